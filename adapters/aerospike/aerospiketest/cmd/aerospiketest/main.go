// Command aerospiketest serves a test cluster until it is interrupted, for
// programs in other languages and for comparing with a real server.
//
//	aerospiketest -addr 127.0.0.1:3000 -nodes 3 -namespace test,bar
//
// It prints one line for each node, "node NAME at HOST:PORT", and then "ready".
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("aerospiketest", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:3000", "where the first node listens; the others take the ports that follow, or free ones with port 0")
	nodes := flags.Int("nodes", 1, "number of nodes")
	namespaces := flags.String("namespace", aerospiketest.DefaultNamespace, "names of the namespaces, parted by commas")
	cluster := flags.String("cluster", "", "name of the cluster")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil
		}
		return err
	}
	srv, err := aerospiketest.Start(aerospiketest.Config{
		Addr: *addr, Nodes: *nodes, Namespaces: strings.Split(*namespaces, ","), ClusterName: *cluster,
	})
	if err != nil {
		return err
	}
	defer srv.Close()
	for _, n := range srv.Nodes() {
		fmt.Fprintf(out, "node %s at %s\n", n.Name(), n.Addr())
	}
	fmt.Fprintln(out, "ready")
	<-ctx.Done()
	return nil
}
