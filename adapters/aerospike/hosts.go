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
	hosts := readHosts(e, c.Hosts)
	for i, h := range hosts {
		if h != nil && h.TLSName != "" && (c.ClientPolicy == nil || c.ClientPolicy.TlsConfig == nil) {
			e.Add(fmt.Sprintf("Hosts[%d]", i), c.Hosts[i], "must be host:port without a ClientPolicy.TlsConfig")
		}
	}
	return hosts
}

// ParseHosts reads seeds in the form of Config.Hosts, for those who call the driver's own
// constructors. Without one, or with one that is wrong, it returns a *spillway.ConfigError
// that lists every fault, and no hosts. It never blocks.
func ParseHosts(addresses ...string) ([]*as.Host, error) {
	e := &spillway.ConfigError{Component: "aerospike"}
	if len(addresses) == 0 {
		e.Add("Hosts", "", "must have at least one host:port")
	}
	hosts := readHosts(e, addresses)
	if err := e.Err(); err != nil {
		return nil, err
	}
	return hosts, nil
}

// readHosts reads seeds, and notes those that aren't any, which are nil.
func readHosts(e *spillway.ConfigError, addresses []string) []*as.Host {
	hosts := make([]*as.Host, len(addresses))
	for i, address := range addresses {
		if hosts[i] = parseHost(address); hosts[i] == nil {
			e.Add(fmt.Sprintf("Hosts[%d]", i), address, "must be host:port, or with TLS host:name:port")
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
