package info

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

const (
	errNoIndex    = "ERROR:201:no-index"
	errIndexThere = "ERROR:200:index already exists"
	errIndexMany  = "ERROR:206:too many indexes"
)

// namespaceParam is the namespace of a command that takes it by two names.
func (r *request) namespaceParam() string {
	if n := r.param("ns"); n != "" {
		return n
	}
	return r.param("namespace")
}

// addIndexes adds the definitions of secondary indexes.
func (s *Server) addIndexes() {
	s.table["sindex-create"] = func(r *request) string {
		x, ok := r.definition()
		switch {
		case x.Namespace == "" && r.arg != "":
			return errNamespace
		case !ok:
			return errParameter
		case r.namespace(x.Namespace) == nil:
			return "ok"
		}
		switch err := r.Indexes.Add(x); {
		case errors.Is(err, sindex.ErrMany):
			return errIndexMany
		case err != nil:
			return errIndexThere
		}
		return "ok"
	}
	named := func(f func(r *request, ns, name string) string) handler {
		return func(r *request) string {
			if r.param("indexname") == "" || r.namespaceParam() == "" {
				return errParameter
			}
			return f(r, r.namespaceParam(), r.param("indexname"))
		}
	}
	s.table["sindex-delete"] = named(func(r *request, ns, name string) string {
		r.Indexes.Drop(ns, name)
		return "ok"
	})
	s.table["sindex-exists"] = named(func(r *request, ns, name string) string {
		_, ok := r.Indexes.Get(ns, name)
		return fmt.Sprint(ok)
	})
	s.table["sindex-stat"] = named((*request).indexStat)
	s.table["sindex-list"] = func(r *request) string {
		ns := r.namespaceParam()
		if ns != "" && r.namespace(ns) == nil {
			return errNamespace
		}
		return r.indexList(ns, r.param("indexname"))
	}
	s.table["sindex"] = func(r *request) string {
		ns, index, _ := strings.Cut(r.arg, "/")
		switch {
		case ns != "" && r.namespace(ns) == nil:
			return "ns_type=unknown"
		case index != "":
			return r.indexStat(ns, index)
		}
		return r.indexList(ns, "")
	}
}

// indexStat shows an index, which is complete at all times.
func (r *request) indexStat(ns, name string) string {
	x, ok := r.Indexes.Get(ns, name)
	if !ok {
		return errNoIndex
	}
	entries, records := 0, 0
	if n := r.namespace(ns); n != nil {
		n.Each(func(rec *store.Record) bool {
			if x.Set == "" || x.Set == rec.Set {
				k := x.Entries(rec.Bins)
				entries += k
				records += min(k, 1)
			}
			return true
		})
	}
	return fmt.Sprintf("entries=%d;used_bytes=%d;entries_per_bval=0;entries_per_rec=%d;load_pct=100;load_time=0;stat_gc_recs=0",
		entries, entries*32, entries/max(records, 1))
}

func (r *request) indexList(ns, name string) string {
	var l []string
	for _, x := range r.Indexes.List(ns) {
		if name == "" || x.Name == name {
			l = append(l, indexLine(x))
		}
	}
	return strings.Join(l, ";")
}

// indexLine is what lists show of an index.
func indexLine(x sindex.Index) string {
	null := func(s string) string {
		if s == "" {
			return "null"
		}
		return s
	}
	return "ns=" + x.Namespace + ":indexname=" + x.Name + ":set=" + null(x.Set) + ":bin=" + x.Bin + ":type=" + string(x.Type) +
		":indextype=" + string(x.Collection) + ":context=" + null(base64.StdEncoding.EncodeToString([]byte(x.Context))) + ":exp=null:state=RW"
}

// definition reads the parameters of a new index. ok says whether they can be.
func (r *request) definition() (x sindex.Index, ok bool) {
	x = sindex.Index{Namespace: r.namespaceParam(), Name: r.param("indexname"), Definition: sindex.Definition{
		Set: r.param("set"), Bin: r.param("bin"),
		Type: sindex.Type(strings.ToLower(r.param("type"))), Collection: sindex.Collection(strings.ToLower(r.param("indextype"))),
	}}
	if data := r.param("indexdata"); data != "" { // the older form, which the Go driver sends
		bin, typ, _ := strings.Cut(data, ",")
		x.Bin, x.Type = bin, sindex.Type(strings.ToLower(typ))
	}
	if x.Collection == "" {
		x.Collection = sindex.Default
	}
	if text := r.param("context"); text != "" {
		ctx, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !sindex.ValidContext(ctx) {
			return x, false
		}
		x.Context = string(ctx)
	}
	ok = (x.Collection != sindex.MapKeys || x.Type != sindex.Geo) && x.Name != "" && len(x.Name) < 64 && x.Bin != "" && len(x.Bin) <= wire.MaxBinName && len(x.Set) <= wire.MaxSetName &&
		slices.Contains([]sindex.Type{sindex.Numeric, sindex.String, sindex.Blob, sindex.Geo}, x.Type) &&
		slices.Contains([]sindex.Collection{sindex.Default, sindex.List, sindex.MapKeys, sindex.MapValues}, x.Collection)
	return x, ok
}
