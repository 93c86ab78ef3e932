package info

import (
	"strconv"
	"strings"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// addPartitions adds the partition map in its several forms.
func (s *Server) addPartitions() {
	s.table["peers-generation"] = func(r *request) string { return strconv.Itoa(r.view.Peers) }
	for _, n := range []string{"partition-generation", "rebalance-generation"} {
		s.table[n] = func(r *request) string { return strconv.Itoa(r.view.Balance) }
	}
	s.table["replicas"] = func(r *request) string {
		n := r.view.Replicas()
		if limit, err := strconv.Atoi(r.param("max")); err == nil && limit > 0 {
			n = min(n, limit)
		}
		return r.replicas(func(ns string) string { return ns + ":0," + strconv.Itoa(n) }, n)
	}
	s.table["replicas-all"] = func(r *request) string {
		n := r.view.Replicas()
		return r.replicas(func(ns string) string { return ns + ":" + strconv.Itoa(n) }, n)
	}
	s.table["replicas-master"] = func(r *request) string {
		return strings.ReplaceAll(r.replicas(func(ns string) string { return ns + ":" }, 1), ":,", ":")
	}
	s.table["partition-info"] = func(r *request) string { return r.partitionInfo() }
}

func (r *request) replicas(head func(ns string) string, n int) string {
	var b strings.Builder
	var maps strings.Builder
	for i := range n {
		maps.WriteString("," + r.view.Bitmap(r.node, i))
	}
	for _, ns := range r.Namespaces {
		b.WriteString(head(ns.Name))
		b.WriteString(maps.String())
		b.WriteByte(';')
	}
	return b.String()
}

func (r *request) partitionInfo() string {
	var b strings.Builder
	b.WriteString("namespace:partition:state:n_replicas:replica:n_dupl:working_master:emigrates:lead_emigrates:immigrates:records:regime:tombstones:version:final_version:a:b:c;")
	for _, ns := range r.Namespaces {
		for p := range store.Partitions {
			replica := 0
			for i := range r.view.Replicas() {
				if r.view.Owner(i, p) == r.node {
					replica = i
				}
			}
			b.WriteString(ns.Name + ":" + strconv.Itoa(p) + ":S:" + strconv.Itoa(r.view.Replicas()) + ":" + strconv.Itoa(replica) + ":0:0:0:0:0:0:0:0:0:0:0:0:0;")
		}
	}
	return b.String()
}
