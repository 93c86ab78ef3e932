// Live is the overload lab with real processes, real sockets and the real driver: it
// starts a cluster of aerospiketest in a process of its own (or takes a real one, with
// -hosts), loads it from other processes, makes nodes stall, crawl and die, and puts the
// bare driver, the best bare counter in front of it, and Spillway side by side. One
// command, one table, one page of pictures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

type options struct {
	role     string
	hosts    []string
	out      string
	only     string
	duration time.Duration
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err = run(ctx, o)
		stop()
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	hosts := flags.String("hosts", "", "seeds of a real cluster, host:port by commas; empty: a cluster in a process of our own")
	flags.StringVar(&o.out, "out", "", "write the table and the pictures into this directory")
	flags.StringVar(&o.only, "only", "", "run only scenarios whose name has this in it")
	flags.DurationVar(&o.duration, "duration", 4*time.Second, "how long each load runs")
	flags.StringVar(&o.role, "role", "", "what this process is, for those that the command starts itself: server or client")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: there are no arguments but flags", flags.Arg(0))
	}
	if *hosts != "" {
		o.hosts = strings.Split(*hosts, ",")
	}
	if o.duration < time.Second || o.duration > time.Minute {
		return o, fmt.Errorf("-duration is %v: must be from 1s to 1m", o.duration)
	}
	if !slices.ContainsFunc(scenarios(), func(s scenario) bool { return o.runs(s) }) {
		return o, fmt.Errorf("-only is %q: no scenario that runs here has that in its name", o.only)
	}
	return o, nil
}

// runs reports whether a scenario is to be run. A real cluster is neither bounded nor harmed.
func (o options) runs(s scenario) bool {
	return strings.Contains(s.name, o.only) && (len(o.hosts) == 0 || s.capacity == 0)
}

func run(ctx context.Context, o options) error {
	switch o.role {
	case "":
		return lab(ctx, o)
	case "server":
		return serve(os.Stdin, os.Stdout)
	case "client":
		return client(ctx, os.Stdin, os.Stdout)
	}
	return fmt.Errorf("-role is %q: must be server or client", o.role)
}
