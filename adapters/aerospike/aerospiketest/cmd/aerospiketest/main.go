// Command aerospiketest serves a test cluster until it is interrupted, for
// programs in other languages and for comparing with a real server.
//
//	aerospiketest -addr 127.0.0.1:3000 -nodes 3 -namespace test,bar
//
// It prints one line for each node, "node NAME at HOST:PORT", and then "ready".
package main

import (
	"context"
	"errors"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // a program's context begins here
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
	user := flags.String("user", "", "a user with every predefined role; with it clients must log in")
	password := flags.String("password", "", "the user's password")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *password != "" && *user == "":
		return errors.New("-password without -user: the server would be open to everybody")
	}
	config := aerospiketest.Config{Addr: *addr, Nodes: *nodes, Namespaces: strings.Split(*namespaces, ","), ClusterName: *cluster}
	if *user != "" {
		all := []string{"user-admin", "sys-admin", "data-admin", "udf-admin", "sindex-admin", "read", "read-write", "read-write-udf", "write", "truncate"}
		config.Security = &aerospiketest.Security{Users: []aerospiketest.User{{Name: *user, Password: *password, Roles: all}}}
	}
	srv, err := aerospiketest.Start(config)
	if err != nil {
		return err
	}
	defer srv.Close()
	var text strings.Builder
	for _, n := range srv.Nodes() {
		text.WriteString("node " + n.Name() + " at " + n.Addr() + "\n")
	}
	text.WriteString("ready\n")
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
