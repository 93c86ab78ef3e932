package info

import (
	"slices"
	"strconv"
	"strings"
)

// addRacks adds what is known of racks: nothing on a cluster without any, as on a
// Community server.
func (s *Server) addRacks() {
	s.table["rack-ids"] = func(r *request) string {
		if !r.view.Racks {
			return errEnterprise
		}
		var l []string
		for _, n := range r.Namespaces {
			l = append(l, n.Name+":"+strconv.Itoa(r.view.Members[r.node].Rack))
		}
		return strings.Join(l, ";")
	}
	s.table["racks"] = func(r *request) string {
		if !r.view.Racks {
			return errEnterprise
		}
		line := r.racks()
		if name := r.namespaceParam(); name != "" {
			if r.namespace(name) == nil {
				return errNamespace
			}
			return line
		}
		var l []string
		for _, n := range r.Namespaces {
			l = append(l, "ns="+n.Name+":"+line)
		}
		return strings.Join(l, ";")
	}
}

// racks lists the members that are up by rack.
func (r *request) racks() string {
	byRack := make(map[int][]string)
	var racks []int
	for _, m := range r.view.Members {
		if m.Up {
			if byRack[m.Rack] == nil {
				racks = append(racks, m.Rack)
			}
			byRack[m.Rack] = append(byRack[m.Rack], m.Name)
		}
	}
	slices.Sort(racks)
	var l []string
	for _, k := range racks {
		l = append(l, "rack_"+strconv.Itoa(k)+"="+strings.Join(byRack[k], ","))
	}
	return strings.Join(l, ":")
}
