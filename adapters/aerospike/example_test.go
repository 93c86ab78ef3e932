package aerospike_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// exampleClient is a client of a server in this process, and what ends both.
func exampleClient(ctx context.Context) (client *aerospike.Client, end func()) {
	srv, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		panic(err)
	}
	client, err = aerospike.New(aerospike.DefaultConfig(srv.Hosts()...))
	if err != nil {
		panic(err)
	}
	if err := client.Connect(ctx); err != nil {
		panic(err)
	}
	return client, func() {
		if err := client.Close(ctx); err != nil {
			panic(err) // what was left: see docs/guides/connecting.md
		}
		srv.Close()
	}
}

// A server in the process stands for the cluster; with one of yours only the hosts differ.
func Example() {
	ctx := context.Background()
	srv, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	client, err := aerospike.New(aerospike.DefaultConfig(srv.Hosts()...))
	if err != nil {
		log.Fatal(err) // every fault of the configuration, by its field
	}
	if err := client.Connect(ctx); err != nil {
		log.Fatal(err)
	}
	key, err := as.NewKey("test", "users", "ada")
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Put(ctx, nil, key, as.BinMap{"name": "Ada"}); err != nil {
		log.Fatal(err)
	}
	record, err := client.Get(ctx, nil, key)
	fmt.Println(record.Bins["name"], err)
	fmt.Println(client.Close(ctx))
	// Output:
	// Ada <nil>
	// <nil>
}

// What a call ended with is asked by errors.Is: an answer of the database, a refusal, or
// something else.
func ExampleIsOverload() {
	ctx := context.Background()
	client, end := exampleClient(ctx)
	defer end()
	key, _ := as.NewKey("test", "users", "nobody")

	_, err := client.Get(ctx, nil, key)
	fmt.Println("not found:", errors.Is(err, as.ErrKeyNotFound), aerospike.StatusOf(err).HTTP)

	mode := spillway.RefuseAll // as a full lane does
	if err := client.Apply(aerospike.Settings{Mode: &mode}); err != nil {
		log.Fatal(err)
	}
	_, err = client.Get(ctx, nil, key)
	fmt.Println("refused:", errors.Is(err, spillway.ErrBackpressure), aerospike.IsOverload(err), aerospike.StatusOf(err).HTTP)
	// Output:
	// not found: true 404
	// refused: true true 503
}

// A stream is read by a loop; leaving it early cleans up, too.
func ExampleClient_ScanAll() {
	ctx := context.Background()
	client, end := exampleClient(ctx)
	defer end()
	for i := range 3 {
		key, _ := as.NewKey("test", "users", i)
		if err := client.Put(ctx, nil, key, as.BinMap{"visits": 2}); err != nil {
			log.Fatal(err)
		}
	}

	stream, err := client.ScanAll(ctx, nil, "test", "users")
	if err != nil {
		log.Fatal(err)
	}
	visits := 0
	for record, err := range stream.All() {
		if err != nil {
			log.Fatal(err) // the stream ended early
		}
		visits += record.Bins["visits"].(int)
	}
	fmt.Println(visits)
	// Output: 6
}

// Settings are changed while calls are under way: all of them, or none.
func ExampleClient_Apply() {
	ctx := context.Background()
	client, end := exampleClient(ctx)
	defer end()

	settings, err := aerospike.ParseSettings([]byte(`{"lanes": {"read": {"limit": 48}, "stream": {"mode": "refuse-all"}}}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Apply(settings))
	_, err = client.ScanAll(ctx, nil, "test", "users")
	fmt.Println(errors.Is(err, spillway.ErrBackpressure))

	_, err = aerospike.ParseSettings([]byte(`{"lanes": {"read": {"limit": 0}}, "mod": "off"}`))
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// aerospike.Settings: invalid configuration: lanes.read.limit is "0": must be at least 1; leave it out to leave it as it is; mod is "off": is no setting
}

// Code that knows the driver's client alone gets one with the same methods, which goes
// through the lanes.
func ExampleClient_Compat() {
	ctx := context.Background()
	client, end := exampleClient(ctx)
	defer end()

	var db as.ClientIfc
	db, err := client.Compat(ctx)
	if err != nil {
		log.Fatal(err)
	}
	key, _ := as.NewKey("test", "users", "ada")
	fmt.Println(db.Put(nil, key, as.BinMap{"name": "Ada"}))
	record, _ := db.Get(nil, key)
	fmt.Println(record.Bins["name"])
	// Output:
	// <nil>
	// Ada
}

// Writes that nobody waits for: nil says that one is in the queue, and Close drains it.
func ExampleClient_Background() {
	ctx := context.Background()
	client, end := exampleClient(ctx)
	defer end()

	audit, err := client.Background(aerospike.DefaultBackgroundConfig())
	if err != nil {
		log.Fatal(err)
	}
	key, _ := as.NewKey("test", "audit", 1)
	fmt.Println(audit.Put(ctx, nil, key, as.BinMap{"who": "Ada"}))
	fmt.Println(audit.Close(ctx), "lost:", audit.Stats().LostItems)
	// Output:
	// <nil>
	// <nil> lost: 0
}
