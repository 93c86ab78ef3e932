package aerospike

import (
	"fmt"
	"strings"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// checkHosts validates the seeds and returns them as the driver wants them.
func (c Config) checkHosts(e *spillway.ConfigError, wrapped bool) []*as.Host {
	if wrapped {
		if len(c.Hosts) > 0 {
			e.Add("Hosts", c.Hosts, "must be empty: a wrapped client is connected already")
		}
		return nil
	}
	if len(c.Hosts) == 0 {
		e.Add("Hosts", "", "must have at least one host:port")
	}
	var hosts []*as.Host
	for i, address := range c.Hosts {
		h := parseHost(address)
		switch {
		case h == nil:
			e.Add(fmt.Sprintf("Hosts[%d]", i), address, "must be host:port, or with TLS host:name:port")
		case h.TLSName != "" && (c.ClientPolicy == nil || c.ClientPolicy.TlsConfig == nil):
			e.Add(fmt.Sprintf("Hosts[%d]", i), address, "must be host:port without a ClientPolicy.TlsConfig")
		default:
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// parseHost reads a seed; nil if it isn't one. The name that a certificate has stands where
// Aerospike's own tools have it.
func parseHost(address string) *as.Host {
	name := ""
	hosts, err := as.NewHosts(address)
	if err != nil {
		rest, port := cutLast(address)
		var host string
		if host, name = cutLast(rest); name == "" {
			return nil
		}
		hosts, err = as.NewHosts(host + ":" + port)
	}
	if err != nil || hosts[0].Name == "" || hosts[0].Port < 1 || hosts[0].Port > 65535 {
		return nil
	}
	hosts[0].TLSName = name
	return hosts[0]
}

// cutLast returns what is before and after the last colon.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ':')
	return s[:max(i, 0)], s[i+1:]
}
