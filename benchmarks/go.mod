module github.com/spillway-go/spillway/benchmarks

go 1.26.0

require (
	github.com/aerospike/aerospike-client-go/v7 v7.10.2
	github.com/alitto/pond/v2 v2.7.1
	github.com/eapache/go-resiliency v1.7.0
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/marusama/semaphore/v2 v2.5.0
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/platinummonkey/go-concurrency-limits v0.8.0
	github.com/slok/goresilience v0.2.0
	github.com/spillway-go/spillway v0.0.0
	github.com/spillway-go/spillway/adapters/aerospike v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.19.0
)

require (
	github.com/beorn7/perks v0.0.0-20180321164747-3a771d992973 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/influxdata/tdigest v0.0.1 // indirect
	github.com/matttproud/golang_protobuf_extensions v1.0.1 // indirect
	github.com/prometheus/client_golang v0.9.2 // indirect
	github.com/prometheus/client_model v0.0.0-20180712105110-5c3871d89910 // indirect
	github.com/prometheus/common v0.0.0-20181126121408-4724e9255275 // indirect
	github.com/prometheus/procfs v0.0.0-20181204211112-1dc9a6cbc91a // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.28.0 // indirect
	golang.org/x/sys v0.24.0 // indirect
	golang.org/x/text v0.17.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240814211410-ddb44dafa142 // indirect
	google.golang.org/grpc v1.67.1 // indirect
	google.golang.org/protobuf v1.36.4 // indirect
)

replace (
	github.com/spillway-go/spillway => ..
	github.com/spillway-go/spillway/adapters/aerospike => ../adapters/aerospike
)
