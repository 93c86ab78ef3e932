module github.com/spillway-go/spillway/benchmarks

go 1.26.0

require (
	github.com/aerospike/aerospike-client-go/v7 v7.10.2
	github.com/spillway-go/spillway v0.0.0
	github.com/spillway-go/spillway/adapters/aerospike v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.26.0 // indirect
	golang.org/x/sync v0.7.0 // indirect
	golang.org/x/sys v0.21.0 // indirect
	golang.org/x/text v0.16.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240711142825-46eb208f015d // indirect
	google.golang.org/grpc v1.63.3 // indirect
	google.golang.org/protobuf v1.34.2 // indirect
)

replace (
	github.com/spillway-go/spillway => ..
	github.com/spillway-go/spillway/adapters/aerospike => ../adapters/aerospike
)
