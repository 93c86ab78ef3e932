package info

import (
	"strconv"
	"strings"
)

const features = "batch-any;batch-index;blob-bits;cdt-index;cdt-list;cdt-map;cluster-stable;float;geo;sindex-exists;peers;pipelining;" +
	"pquery;pscans;query-show;relaxed-sc;replicas;replicas-all;replicas-master;replicas-max;truncate-namespace;udf"

// clusterKey stands for the state of the cluster; it changes with the view.
func (v *View) clusterKey() string {
	return strings.ToUpper(strconv.FormatInt(0x5b111a7+int64(v.Balance), 16))
}

// addNode adds what a node says about itself and the others.
func (s *Server) addNode() {
	s.text("build", Build)
	edition := "Aerospike Community Edition"
	if s.Enterprise {
		edition = "Aerospike Enterprise Edition"
	}
	s.text("version", edition+" build "+Build)
	s.text("edition", edition)
	s.text("status", "ok")
	s.text("features", features)
	s.text("services-alumni-reset", "ok")
	s.text("health-outliers", "")
	s.text("health-stats", "")
	s.text("best-practices", "failed_best_practices=none")
	s.text("user-agent-set", "ok")
	s.text("logs", "0:stderr")
	s.text("log", "misc:INFO;as:INFO;info:INFO")
	s.text("mesh", "0.0.0.0:3002 none")
	s.text("smd-info", "truncate:0;sindex:0;UDF:0")
	cluster := s.ClusterName
	if cluster == "" {
		cluster = "null"
	}
	s.text("cluster-name", cluster)
	s.table["node"] = func(r *request) string { return r.view.Members[r.node].Name }
	s.table["cluster-stable"] = func(r *request) string { return r.view.clusterKey() }
	service := func(r *request) string { return r.view.Members[r.node].Addr }
	peers := func(r *request) string { return r.peers() }
	none := func(*request) string { return errEnterprise }
	clearService, clearPeers, tlsService, tlsPeers := service, peers, none, none
	if s.TLS {
		clearService = func(*request) string { return "" }
		clearPeers = func(r *request) string { return strconv.Itoa(r.view.Peers) + ",,[]" }
		tlsService, tlsPeers = service, peers
	}
	s.table["service"] = clearService
	for _, way := range []string{"std", "alt"} {
		s.table["service-clear-"+way], s.table["service-tls-"+way] = clearService, tlsService
		s.table["peers-clear-"+way], s.table["peers-tls-"+way] = clearPeers, tlsPeers
		s.table["alumni-clear-"+way], s.table["alumni-tls-"+way] = clearPeers, tlsPeers
	}
	s.table["services"] = func(r *request) string {
		var l []string
		for i, m := range r.view.Members {
			if i != r.node && m.Up {
				l = append(l, m.Addr)
			}
		}
		return strings.Join(l, ";")
	}
	s.table["statistics"] = func(r *request) string { return r.statistics() }
}

// peers lists the other nodes that are up.
func (r *request) peers() string {
	var l []string
	for i, m := range r.view.Members {
		if i != r.node && m.Up {
			l = append(l, "["+m.Name+","+m.TLSName+",["+m.Addr+"]]")
		}
	}
	return strconv.Itoa(r.view.Peers) + ",3000,[" + strings.Join(l, ",") + "]"
}
