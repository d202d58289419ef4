module github.com/berth-project/berth/examples

go 1.26
