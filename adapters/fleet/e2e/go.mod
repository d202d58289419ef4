// This module is for tests and measurements and is never released: nobody imports it.
module github.com/berth-project/berth/adapters/fleet/e2e

go 1.26.0

require (
	github.com/berth-project/berth/adapters/fleet v0.0.0
	github.com/hashicorp/go-hclog v1.6.3
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.22.0
)

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.14 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/berth-project/berth => ../../..
	github.com/berth-project/berth/adapters/fleet => ../
)
