package info

import "strings"

const (
	errNoIndex = "ERROR:201:no-index"
	indexStats = "entries=0;used_bytes=0;entries_per_bval=0;entries_per_rec=0;load_pct=100;load_time=0;stat_gc_recs=0"
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
		return r.Indexes.Add(x)
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
		if r.Indexes.Has(ns, name) {
			return "true"
		}
		return "false"
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

func (r *request) indexStat(ns, name string) string {
	if r.Indexes.Has(ns, name) {
		return indexStats
	}
	return errNoIndex
}

func (r *request) indexList(ns, name string) string {
	var l []string
	for _, x := range r.Indexes.List(ns) {
		if name == "" || x.Name == name {
			l = append(l, x.line())
		}
	}
	return strings.Join(l, ";")
}
