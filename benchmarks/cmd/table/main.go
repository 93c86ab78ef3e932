// Table measures the toolkit beside its floor and its rivals, in one run, and prints the
// ratios with the budget that they have to keep: docs/benchmarks.md says how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	rounds int
	only   *regexp.Regexp
	write  string
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 150, "how many times each thing is measured")
	only := flags.String("only", "", "a regular expression: measure the parts with such names alone")
	flags.StringVar(&o.write, "write", "", "a document to write the result into, between its markers")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: there are no arguments but flags", flags.Arg(0))
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds is %d: must be positive", o.rounds)
	}
	if o.write != "" && *only != "" {
		return o, errors.New("-write and -only: a document holds the whole table")
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, err
	}
	if !slices.ContainsFunc(parts(), func(p part) bool { return o.only.MatchString(p.name) }) {
		return o, fmt.Errorf("-only is %q: no part has such a name", *only)
	}
	if o.write != "" { // minutes before it is needed
		_, _, err = surroundings(o.write)
	}
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	result, err := o.measure(ctx)
	if err != nil {
		return err
	}
	text := result.markdown()
	if _, err := io.WriteString(out, text); err != nil || o.write == "" {
		return err
	}
	return writeBetween(o.write, text)
}

// measure runs every part that was asked for, one after the other.
func (o options) measure(ctx context.Context) (report, error) {
	r := newReport()
	for _, p := range parts() {
		if !o.only.MatchString(p.name) {
			continue
		}
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		fmt.Fprintln(os.Stderr, "measuring:", p.name)
		if err := o.part(ctx, p, &r); err != nil {
			return r, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return r, context.Cause(ctx) // what was measured of calls that were refused is nothing
}

// part runs one part, and closes what it has opened.
func (o options) part(ctx context.Context, p part, r *report) (err error) {
	open := &opened{ctx: ctx, call: context.Background()}
	defer func() { err = errors.Join(err, open.close()) }()
	return p.run(open, o.rounds, r)
}
