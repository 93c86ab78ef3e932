package aerospiketest_test

import (
	"context"
	"fmt"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

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
	policy := as.NewClientPolicy()
	policy.Timeout = 5 * time.Second
	hosts, _ := as.NewHosts(srv.Hosts()...)
	client, aerr := as.NewClientWithPolicyAndHost(policy, hosts...)
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

// visits is a small service: it counts the visits of pages, and tries three times
// when a page's record is busy.
type visits struct{ client *as.Client }

func (v visits) count(page string) (int, error) {
	policy := as.NewWritePolicy(0, 0)
	policy.TotalTimeout, policy.MaxRetries = 5*time.Second, 1
	key, err := as.NewKey("test", "visits", page)
	if err != nil {
		return 0, err
	}
	for range 3 {
		var record *as.Record
		if record, err = v.client.Operate(policy, key, as.AddOp(as.NewBin("n", 1)), as.GetBinOp("n")); err == nil {
			return record.Bins["n"].(int), nil
		}
		if !err.Matches(types.KEY_BUSY) {
			break
		}
	}
	return 0, err
}

// The service is tested as it is, with a server that is busy twice; the recorder
// tells what the server saw.
func Example_service() {
	srv, err := aerospiketest.Start(aerospiketest.Config{Nodes: 3}) // in a test: NewServer(t, …)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	hosts, _ := as.NewHosts(srv.Hosts()...)
	client, aerr := as.NewClientWithPolicyAndHost(nil, hosts...)
	if aerr != nil {
		fmt.Println(aerr)
		return
	}
	defer client.Close()

	busy := srv.Inject(aerospiketest.Fault{Times: 2, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeKeyBusy})
	log := srv.Record()
	n, err := visits{client}.count("/index.html")
	fmt.Println("visits:", n, "error:", err, "busy:", busy.Hits())
	for _, x := range log.Served() {
		fmt.Println(x.Kind, x.Set, "code", x.Code, "in time:", x.Timeout <= 5*time.Second)
	}
	// Output:
	// visits: 1 error: <nil> busy: 2
	// operate visits code 14 in time: true
	// operate visits code 14 in time: true
	// operate visits code 0 in time: true
}

// A background job is held, so the test sees it at work.
func ExampleServer_Hold_job() {
	srv, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	hosts, _ := as.NewHosts(srv.Hosts()...)
	client, aerr := as.NewClientWithPolicyAndHost(nil, hosts...)
	if aerr != nil {
		fmt.Println(aerr)
		return
	}
	defer client.Close()
	key, _ := as.NewKey("test", "users", 1)
	if aerr := client.PutBins(nil, key, as.NewBin("name", "Ada")); aerr != nil {
		fmt.Println(aerr)
	}

	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindJob})
	statement := as.NewStatement("test", "users")
	statement.TaskId = 7 // the driver asks for another number than it sends if there is none
	task, aerr := client.QueryExecute(nil, nil, statement, as.DeleteOp())
	if aerr != nil {
		fmt.Println(aerr)
		return
	}
	done, _ := task.IsDone()
	fmt.Println("done:", done, "records:", srv.Records("test", "users"))
	gate.Release()
	if err := <-task.OnComplete(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("records:", srv.Records("test", "users"))
	// Output:
	// done: false records: 1
	// records: 0
}

// A function in Go stands for one that the application has in Lua.
func ExampleServer_RegisterFunc() {
	srv, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	err = srv.RegisterFunc("stats", "visit", func(rec *aerospiketest.UDFRecord, args []any) (any, error) {
		n, _ := rec.Get("visits").(int64)
		by, _ := args[0].(int64)
		if err := rec.Set("visits", n+by); err != nil {
			return nil, err
		}
		if !rec.Exists() {
			return n + by, rec.Create()
		}
		return n + by, rec.Update()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	hosts, _ := as.NewHosts(srv.Hosts()...)
	client, aerr := as.NewClientWithPolicyAndHost(nil, hosts...)
	if aerr != nil {
		fmt.Println(aerr)
		return
	}
	defer client.Close()
	key, _ := as.NewKey("test", "pages", "home")
	for range 2 {
		visits, aerr := client.Execute(nil, key, "stats", "visit", as.NewValue(5))
		fmt.Println(visits, aerr)
	}
	// Output:
	// 5 <nil>
	// 10 <nil>
}
