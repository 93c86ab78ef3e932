package sindex_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
)

func TestRegistryHasOneIndexOfADefinition(t *testing.T) {
	var r sindex.Registry
	d := sindex.Definition{Set: "s", Bin: "a", Type: sindex.Numeric, Collection: sindex.Default}
	require.NoError(t, r.Add(sindex.Index{Namespace: "n", Name: "one", Definition: d}))
	require.NoError(t, r.Add(sindex.Index{Namespace: "n", Name: "one", Definition: d}))
	other := d
	other.Bin = "b"
	require.ErrorIs(t, r.Add(sindex.Index{Namespace: "n", Name: "one", Definition: other}), sindex.ErrExists)
	require.NoError(t, r.Add(sindex.Index{Namespace: "m", Name: "one", Definition: d}))
	require.NoError(t, r.Add(sindex.Index{Namespace: "n", Name: "two", Definition: d}), "a new name")
	require.Len(t, r.List("n"), 1)
	require.Len(t, r.List(""), 2)
	_, ok := r.Get("n", "one")
	require.False(t, ok)
	x, ok := r.Find("n", d)
	require.True(t, ok)
	require.Equal(t, "two", x.Name)
	_, ok = r.Find("n", other)
	require.False(t, ok)
	r.Drop("n", "nothing")
	r.Drop("n", "two")
	_, ok = r.Find("n", d)
	require.False(t, ok)
	whole := d
	whole.Set = ""
	require.NoError(t, r.Add(sindex.Index{Namespace: "n", Name: "all", Definition: whole}))
	x, ok = r.Find("n", d)
	require.True(t, ok)
	require.Equal(t, "all", x.Name)
}
