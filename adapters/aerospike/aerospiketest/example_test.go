package aerospiketest_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// A write is held at a gate until the example has looked.
func Example() {
	srv, err := aerospiketest.Start(aerospiketest.Config{}) // in a test: NewServer(t)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	host, port, _ := net.SplitHostPort(srv.Addr())
	number, _ := strconv.Atoi(port)
	policy := as.NewClientPolicy()
	policy.Timeout = 5 * time.Second
	client, aerr := as.NewClientWithPolicy(policy, host, number)
	if aerr != nil {
		fmt.Println(aerr)
		return
	}
	defer client.Close()

	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	key, _ := as.NewKey("test", "users", 1)
	done := make(chan as.Error)
	go func() { done <- client.PutBins(nil, key, as.NewBin("name", "Ada")) }()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := gate.Wait(ctx, 1); err != nil {
		fmt.Println(err)
	}
	fmt.Println("held:", gate.Held(), "records:", srv.Records("test", "users"))
	gate.Release()
	if err := <-done; err != nil {
		fmt.Println(err)
	}
	fmt.Println("records:", srv.Records("test", "users"))
	// Output:
	// held: 1 records: 0
	// records: 1
}

func ExampleServer_Inject() {
	srv, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	busy := srv.Inject(aerospiketest.Fault{
		Match:  aerospiketest.Match{Kinds: aerospiketest.KindsWrite, Set: "users"},
		Times:  3,
		Action: aerospiketest.ActionCode,
		Code:   aerospiketest.CodeKeyBusy,
	})
	defer busy.Remove()
	fmt.Println(busy.Hits())
	// Output: 0
}
