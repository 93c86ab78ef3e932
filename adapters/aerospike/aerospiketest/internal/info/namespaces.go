package info

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// addNamespaces adds what is known of namespaces and sets.
func (s *Server) addNamespaces() {
	s.table["namespaces"] = func(r *request) string {
		var l []string
		for _, n := range r.Namespaces {
			l = append(l, n.Name)
		}
		return strings.Join(l, ";")
	}
	s.table["namespace"] = func(r *request) string {
		n := r.namespace(r.arg)
		if n == nil {
			return "type=unknown"
		}
		return r.namespaceStats(n)
	}
	s.table["sets"] = func(r *request) string { return r.sets() }
	s.table["histogram"] = func(r *request) string {
		if r.namespace(r.param("namespace")) == nil {
			return errNamespace
		}
		return ""
	}
	s.table["latencies"] = func(r *request) string { return r.latencies() }
}

// zeros are statistics of a namespace that are always 0 here.
const zeros = "tombstones;client_read_error;client_read_not_found;client_read_success;client_write_error;client_write_success;" +
	"client_delete_success;client_udf_complete;batch_sub_read_success;pi_query_short_basic_complete;si_query_short_basic_complete;" +
	"sindex_gc_cleaned;dead_partitions;migrate_tx_partitions_remaining;migrate_rx_partitions_remaining;" +
	"expired_objects;evicted_objects;index_used_bytes;sindex_used_bytes;set_index_used_bytes"

func (r *request) namespaceStats(n *store.Namespace) string {
	o := r.objects(n)
	return fmt.Sprintf("ns_cluster_size=%d;effective_replication_factor=%d;objects=%d;master_objects=%d;prole_objects=%d;data_used_bytes=%d;unavailable_partitions=%d;",
		r.view.Up(), r.view.Replicas(), o.all, o.master, o.all-o.master, o.bytes, len(r.view.Unavailable)) +
		strings.ReplaceAll(zeros, ";", "=0;") + "=0;stop_writes=false;hwm_breached=false;" + r.namespaceConfig(n)
}

func (r *request) namespaceConfig(n *store.Namespace) string {
	return fmt.Sprintf("replication-factor=%d;default-ttl=%d;nsup-period=120;storage-engine=memory;max-record-size=%d;", r.view.Factor, n.DefaultTTL/time.Second, n.MaxRecord) +
		"allow-ttl-without-nsup=false;strong-consistency=false;conflict-resolution-policy=generation;read-consistency-level-override=off;" +
		"single-query-threads=4;disallow-null-setname=false"
}

// objects are the records of which a node has copies.
type objects struct{ all, master, bytes int }

func (r *request) objects(n *store.Namespace) objects {
	var o objects
	for _, s := range n.Sets(r.owns) {
		o.all += s.Records
		o.bytes += s.Bytes
	}
	for _, s := range n.Sets(r.leads) {
		o.master += s.Records
	}
	return o
}

func (r *request) owns(partition int) bool  { return r.view.Owns(r.node, partition) }
func (r *request) leads(partition int) bool { return r.view.Leads(r.node, partition) }

// setLine is what is shown of a set.
func (r *request) setLine(ns, name string, s store.SetStats) string {
	indexes := 0
	for _, x := range r.Indexes.List(ns) {
		if x.Set == name {
			indexes++
		}
	}
	return fmt.Sprintf("objects=%d:tombstones=0:data_used_bytes=%d:truncate_lut=0:sindexes=%d:index_populating=false:truncating=false:"+
		"default-read-touch-ttl-pct=0:default-ttl=0:disable-eviction=false:enable-index=false:stop-writes-count=0:stop-writes-size=0;", s.Records, s.Bytes, indexes)
}

func (r *request) sets() string {
	name, set, one := strings.Cut(r.arg, "/")
	list := r.Namespaces
	if name != "" {
		n := r.namespace(name)
		if n == nil {
			return "ns_type=unknown"
		}
		list = []*store.Namespace{n}
	}
	var b strings.Builder
	for _, n := range list {
		all := n.Sets(r.owns)
		for _, s := range slices.Sorted(maps.Keys(all)) {
			switch {
			case s == "":
			case !one:
				b.WriteString("ns=" + n.Name + ":set=" + s + ":" + r.setLine(n.Name, s, all[s]))
			case s == set:
				b.WriteString(r.setLine(n.Name, s, all[s]))
			}
		}
	}
	return b.String()
}

func (r *request) latencies() string {
	want := r.param("hist")
	names := []string{"batch-index"}
	for _, n := range r.Namespaces {
		names = append(names, "{"+n.Name+"}-read", "{"+n.Name+"}-write")
	}
	if want == "" {
		return strings.Join(names, ":;") + ":"
	}
	if !slices.Contains(names, want) {
		return errParameter
	}
	return want + ":"
}
