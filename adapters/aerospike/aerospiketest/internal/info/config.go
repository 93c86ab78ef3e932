package info

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// addConfig adds the settings, of which none can be changed.
func (s *Server) addConfig() {
	s.table["get-config"] = func(r *request) string {
		switch r.param("context") {
		case "":
			return r.serviceConfig() + ";" + r.networkConfig()
		case "service":
			return r.serviceConfig()
		case "network":
			return r.networkConfig()
		case "namespace":
			n := r.namespace(r.param("id"))
			if n == nil {
				return errNamespace
			}
			return r.namespaceConfig(n)
		}
		return errParameter
	}
	s.table["set-config"] = func(r *request) string {
		if r.param("context") == "namespace" && r.namespace(r.param("id")) == nil {
			return errNamespace
		}
		return errParameter
	}
	s.text("set-log", errParameter)
}

func (r *request) serviceConfig() string {
	return "cluster-name=" + r.answer("cluster-name") + ";node-id=" + r.view.Members[r.node].Name +
		";proto-fd-max=15000;proto-fd-idle-ms=0;service-threads=10;batch-index-threads=2;query-threads-limit=128;ticker-interval=10;" +
		"transaction-max-ms=1000;migrate-threads=1;info-threads=16"
}

func (r *request) networkConfig() string {
	host, port, _ := net.SplitHostPort(r.view.Members[r.node].Addr)
	return "service.address=" + host + ";service.port=" + port + ";service.access-port=0" +
		";heartbeat.mode=mesh;heartbeat.port=3002;heartbeat.interval=150;heartbeat.timeout=10;fabric.port=3001"
}

// zeroStats are statistics of a node that are always 0 here.
const zeroStats = "batch_index_complete;batch_index_error;process_cpu_pct;heap_allocated_kbytes;migrate_partitions_remaining;demarshal_error;" +
	"early_tsvc_client_error;reaped_fds;fabric_bulk_recv_rate;heartbeat_received_self;rw_in_progress;tombstones"

func (r *request) statistics() string {
	records := 0
	for _, n := range r.Namespaces {
		records += r.objects(n).all
	}
	age := int(time.Since(r.Started) / time.Second)
	c := r.Counters(r.node)
	first := r.view.first()
	return fmt.Sprintf("cluster_size=%d;cluster_key=K%s;cluster_generation=%d;cluster_principal=%s;paxos_principal=%s;cluster_integrity=true;cluster_is_member=true;",
		r.view.Up(), r.view.clusterKey(), r.view.Balance, first, first) +
		fmt.Sprintf("uptime=%d;time_since_rebalance=%d;objects=%d;client_connections=%d;client_connections_opened=%d;client_connections_closed=%d;info_complete=%d;",
			age, age, records, c.Connections, c.Opened, c.Closed, c.Infos) +
		"system_free_mem_pct=50;migrate_allowed=true;failed_best_practices=false;" +
		strings.ReplaceAll(zeroStats, ";", "=0;") + "=0"
}
