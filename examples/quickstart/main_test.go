package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestParse(t *testing.T) {
	_, err := parse([]string{"-hosts", "a:3000", "b:3000", "-callers", "1"}) // which must not be the default load
	require.ErrorContains(t, err, `unexpected argument "b:3000"`)
	_, err = parse([]string{"-callers", "16,0"})
	require.ErrorContains(t, err, `-callers has "0"`)
	o, err := parse([]string{"-hosts", "a:3000,b:3000", "-callers", "1, 20"})
	require.NoError(t, err)
	require.Equal(t, []string{"a:3000", "b:3000"}, o.hosts)
	require.Equal(t, []int{1, 20}, o.callers)
}

func TestLeavesNothingOnACluster(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	puts := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	require.NoError(t, run(t.Context(), options{hosts: srv.Hosts(), duration: time.Millisecond, callers: []int{2}}))
	require.Equal(t, records, puts.Len())
	require.Zero(t, srv.Records(namespace, setName))
}

func TestInterruptedLeavesNothingOnACluster(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindPut})
	gate.Step(records / 2)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, options{hosts: srv.Hosts(), duration: time.Hour, callers: []int{2}}) }()
	require.NoError(t, gate.Wait(t.Context(), 1))
	cancel()
	gate.Release()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Zero(t, srv.Records(namespace, setName))
}
