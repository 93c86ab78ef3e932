package aerospiketest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Defaults of a [Config].
const (
	DefaultNamespace     = "test"
	DefaultMaxRecordSize = 1 << 20
	maxNodes             = 64
	maxRecordSize        = 8 << 20                   // as on a real server; other bounds are made for it
	maxTTL               = wire.MaxTTL * time.Second // ten years, as on a real server
)

// Config says what a [Server] is to be. The zero value is one node with one
// namespace, "test", in which records do not expire unless they are told to.
type Config struct {
	// Nodes is how many nodes the cluster has, up to 64. Zero means one.
	Nodes int
	// Namespaces are the names of the namespaces, of at most 31 bytes. None
	// means DefaultNamespace.
	Namespaces []string
	// ReplicationFactor is how many nodes list each partition, up to Nodes.
	// Zero means two, or one on a single node.
	ReplicationFactor int
	// ClusterName is what clients may check. Empty means none.
	ClusterName string
	// DefaultTTL is the time to live of records that are written without one,
	// in whole seconds, up to ten years. Zero means that they don't expire.
	DefaultTTL time.Duration
	// MaxRecordSize bounds a record, in bytes, up to 8 MiB; a larger one is answered
	// with CodeRecordTooBig. Zero means DefaultMaxRecordSize.
	MaxRecordSize int
	// Capacity bounds the work of every node. The zero value is no bound.
	Capacity Capacity
	// Addr is where the first node listens, as host:port; the others take the
	// ports that follow, or free ones with port 0. Clients are told to come there,
	// so 0.0.0.0 is of use only to those on this machine. Empty means free ports
	// on 127.0.0.1.
	Addr string
	// TLS, unless nil, makes every node speak TLS and nothing else. Drivers know
	// the nodes by the first name of the first certificate.
	TLS *tls.Config
	// Racks are the racks of the nodes, in their order; a node without one is on
	// rack 0. None means that the cluster answers as one without racks.
	Racks []int
	// Strict makes nodes answer CodePartitionUnavailable to commands on records
	// of partitions that are elsewhere. See [Node.SetStrict].
	Strict bool
	// Security, unless nil, makes it a server with users: clients must log in.
	Security *Security
	// UDFLog, unless nil, is told what functions in Lua log: the level, which is
	// trace, debug, info or warn, and the text. It must be safe for concurrent
	// use, and must not wait.
	UDFLog func(level, text string)
}

// withDefaults returns the config with zero fields filled in.
func (c Config) withDefaults() Config {
	if c.Nodes == 0 {
		c.Nodes = 1
	}
	if len(c.Namespaces) == 0 {
		c.Namespaces = []string{DefaultNamespace}
	}
	if c.ReplicationFactor == 0 {
		c.ReplicationFactor = min(2, max(c.Nodes, 1))
	}
	if c.MaxRecordSize == 0 {
		c.MaxRecordSize = DefaultMaxRecordSize
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	return c
}

// listenAddr returns where a node listens.
func (c Config) listenAddr(node int) (string, error) {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", err
	}
	if n > 0 {
		n += uint64(node)
	}
	if n > math.MaxUint16 {
		return "", strconv.ErrRange
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// validate reports every fault of a config with defaults, each with the field's
// name and value.
func (c Config) validate() error {
	var errs []error
	fault := func(bad bool, field string, value any, want string) {
		if bad {
			errs = append(errs, fmt.Errorf("aerospiketest: Config.%s is %v, want %s", field, value, want))
		}
	}
	fault(c.Nodes < 1 || c.Nodes > maxNodes, "Nodes", c.Nodes, fmt.Sprintf("1 to %d, or 0 for 1", maxNodes))
	fault(c.ReplicationFactor < 1 || c.ReplicationFactor > max(c.Nodes, 1), "ReplicationFactor", c.ReplicationFactor, "1 to the number of nodes, or 0 for a default")
	fault(c.DefaultTTL < 0 || c.DefaultTTL > maxTTL || c.DefaultTTL%time.Second != 0, "DefaultTTL", c.DefaultTTL, "whole seconds, up to "+maxTTL.String())
	fault(c.MaxRecordSize < 0 || c.MaxRecordSize > maxRecordSize, "MaxRecordSize", c.MaxRecordSize, fmt.Sprintf("1 to %d bytes, or 0 for a default", maxRecordSize))
	fault(strings.ContainsAny(c.ClusterName, "\t\n;:"), "ClusterName", fmt.Sprintf("%q", c.ClusterName), "no tab, line feed, semicolon or colon")
	_, err := c.listenAddr(max(c.Nodes, 1) - 1)
	fault(err != nil, "Addr", fmt.Sprintf("%q", c.Addr), "host:port, with ports for all nodes")
	fault(len(c.Racks) > max(c.Nodes, 1), "Racks", c.Racks, "one for each node at most")
	fault(c.TLS != nil && !hasCertificate(c.TLS), "TLS", "without a certificate", "one")
	seen := make(map[string]bool)
	for i, n := range c.Namespaces {
		field := fmt.Sprintf("Namespaces[%d]", i)
		fault(n == "" || len(n) > 31 || strings.ContainsAny(n, "\t\n;:,/="), field, fmt.Sprintf("%q", n), "1 to 31 bytes without separators")
		fault(seen[n], field, fmt.Sprintf("%q", n), "a name of its own")
		seen[n] = true
	}
	return errors.Join(append(errs, c.Capacity.validate("Config.Capacity"))...)
}
