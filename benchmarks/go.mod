module github.com/spillway-go/spillway/benchmarks

go 1.24.0

require (
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/platinummonkey/go-concurrency-limits v0.8.0
	github.com/spillway-go/spillway v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.19.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/influxdata/tdigest v0.0.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/spillway-go/spillway => ..
