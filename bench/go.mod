module github.com/loomrun/loom/bench

go 1.27

toolchain go1.27.3

replace github.com/loomrun/loom => ../

require (
	github.com/cedar-policy/cedar-go v1.9.1
	github.com/loomrun/loom v0.0.0-00010101000000-000000000000
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/exp v0.0.0-20220921023135-46d9e7742f1e // indirect
)
