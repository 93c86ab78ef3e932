// Tune finds the limits that fit your cluster: it raises the number of concurrent reads
// and writes step by step until throughput stops growing, and prints the settings to
// apply, the figures and a picture of the curve.
//
// It is careful: it writes a few records into a set of its own, in which none of them may
// be already, and deletes them at the end, also when it is interrupted; its rate and time
// are bounded; and it stops a class as soon as errors, a tail beyond -stop-p99 or a
// throughput that grows no more show that there is nothing to gain. With -dry-run it only
// says what it would do.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/examples/internal/seeds"
)

// maxBytes is the most that is written: a cluster may have little room.
const maxBytes = 1_000_000_000

type options struct {
	hosts          []string
	policy         *as.ClientPolicy // who we are there; nil: the driver's default
	namespace, set string
	records, size  int
	classes        []string
	maxCallers     int
	step           time.Duration
	maxRate        float64
	stopP99        time.Duration
	processes      int
	picture        string
	dryRun         bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		// All that ends a program from outside: a closed terminal and a closed pipe, too.
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
		err = run(ctx, o, os.Stdout)
		stop()
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "tune:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("tune", flag.ContinueOnError)
	var cluster seeds.Seeds
	cluster.Flags(flags)
	classes := flags.String("classes", "read,write", "what to measure, by commas: read, write")
	flags.StringVar(&o.namespace, "namespace", "test", "the namespace")
	flags.StringVar(&o.set, "set", "spillway-tune", "a set of its own")
	flags.IntVar(&o.records, "records", 1000, "how many records to write and read")
	flags.IntVar(&o.size, "size", 200, "bytes of each record")
	flags.IntVar(&o.maxCallers, "max-callers", 256, "the most concurrent calls to try")
	flags.DurationVar(&o.step, "step", 2*time.Second, "how long each number of callers runs")
	flags.Float64Var(&o.maxRate, "max-rate", 100_000, "the most calls a second")
	flags.DurationVar(&o.stopP99, "stop-p99", 100*time.Millisecond, "stop a class when its p99 is longer")
	flags.IntVar(&o.processes, "processes", 1, "how many processes will share the cluster")
	flags.StringVar(&o.picture, "picture", "", "write the curve as SVG to this file")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only say what would be done")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 { // the flags behind it, such as -dry-run, weren't read
		return o, fmt.Errorf("unexpected argument %q: parts of a list have a comma between them, and no space", flags.Arg(0))
	}
	o.hosts, o.classes = cluster.Hosts(), strings.Split(*classes, ",")
	var err error
	o.policy, err = cluster.Policy()
	return o, errors.Join(err, o.check())
}

// check says what is wrong with the options, all at once.
func (o options) check() error {
	faults := []error{
		within("records", o.records, 1, 100_000),
		within("size", o.size, 1, 100_000),
		within("max-callers", o.maxCallers, 2, 4096),
		within("step", o.step, 10*time.Millisecond, time.Minute),
		within("max-rate", o.maxRate, 1, 10_000_000),
		within("stop-p99", o.stopP99, time.Millisecond, time.Minute),
		within("processes", o.processes, 1, 100_000),
	}
	for _, c := range o.classes {
		if !slices.Contains([]string{"read", "write"}, c) {
			faults = append(faults, fmt.Errorf("-classes has %q: must be read or write", c))
		}
	}
	if all := o.records * o.size; all > maxBytes && errors.Join(faults...) == nil {
		faults = append(faults, fmt.Errorf("-records times -size is %d: must be at most %d bytes", all, maxBytes))
	}
	if o.namespace == "" {
		faults = append(faults, errors.New("-namespace is empty"))
	}
	if o.set == "" {
		faults = append(faults, errors.New("-set is empty: must be the name of a set of its own"))
	}
	return errors.Join(faults...)
}

func within[T cmp.Ordered](name string, v, low, high T) error {
	if v >= low && v <= high {
		return nil
	}
	return fmt.Errorf("-%s is %v: must be from %v to %v", name, v, low, high) // NaN too
}

// steps are the numbers of callers to try: powers of two, and the middle between them
// where the knee is likely to be.
func (o options) steps() []int {
	var all []int
	for n := 1; n <= o.maxCallers; n *= 2 {
		all = append(all, n)
		if mid := n + n/2; n >= 4 && mid <= o.maxCallers {
			all = append(all, mid)
		}
	}
	return all
}

// plan says what a run does.
func (o options) plan() string {
	cluster := "a server in this process"
	if len(o.hosts) > 0 {
		cluster = strings.Join(o.hosts, ", ")
	}
	longest := time.Duration(len(o.steps())*len(o.classes)) * o.step
	return fmt.Sprintf(`cluster   %s
records   %d of %d bytes in %s.%s, deleted at the end
classes   %s
callers   %v
bounds    %.0f calls a second; %v to write the records, %v to measure, %v to delete them; a class ends at a p99 over %v or 1 %% errors
`, cluster, o.records, o.size, o.namespace, o.set, strings.Join(o.classes, ", "), o.steps(), o.maxRate,
		o.atRate(2*o.records, writeTime), longest, o.atRate(o.records, cleanTime), o.stopP99)
}

// atRate is how long it may take to ask for n records: as long as the rate wants, and d.
func (o options) atRate(n int, d time.Duration) time.Duration {
	return d + time.Duration(float64(n)/o.maxRate*float64(time.Second)).Round(time.Second)
}
