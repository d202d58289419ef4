package server

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPIText []byte

// openAPI answers GET /v1/openapi.yaml.
func openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPIText) // the caller may have gone
}
