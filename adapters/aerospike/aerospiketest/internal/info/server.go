package info

import (
	"strings"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Build is the server version that is claimed.
const Build = "8.1.0.3"

// Counters are what statistics show of a node.
type Counters struct {
	Connections, Opened, Closed, Infos uint64
}

// A Server answers the commands sent to any node. Its fields must not
// change once in use; all its methods are then safe for concurrent use.
type Server struct {
	Namespaces  []*store.Namespace
	ClusterName string
	Started     time.Time
	View        func() *View
	Counters    func(node int) Counters
	Jobs        func(node int) *jobs.Table
	Indexes     *sindex.Registry
	Functions   *udf.Registry
	TLS         bool // nodes are reached by TLS alone
	Enterprise  bool // how the server shows itself

	table map[string]handler
}

// A request is one command.
type request struct {
	*Server
	node   int
	view   *View
	permit Permit
	arg    string // what follows the name and a colon or slash
}

type handler func(r *request) string

// Errors that many commands answer with.
const (
	errUnknown    = "ERROR:4:unrecognized command"
	errParameter  = "ERROR:4:bad parameter"
	errNamespace  = "ERROR:20:unknown namespace"
	errEnterprise = "ERROR:25:enterprise only"
)

// Init builds the table of commands.
func (s *Server) Init() {
	s.table = make(map[string]handler)
	s.addNode()
	s.addPartitions()
	s.addNamespaces()
	s.addConfig()
	s.addRacks()
	s.addJobs()
	s.addIndexes()
	s.addModules()
	s.addTruncate()
	for _, name := range []string{"feature-key", "quiesce", "quiesce-undo", "roster", "roster-set", "revive", "xdr-set-filter"} {
		s.text(name, errEnterprise)
	}
}

// text adds a command with an answer that is always the same.
func (s *Server) text(name, answer string) {
	s.table[name] = func(*request) string { return answer }
}

// maxAnswer is how long an answer may be before the rest of a request's commands
// is left out: a list of many commands could ask for more than there is memory.
const maxAnswer = 16 << 20

// defaults are the commands that are answered when none is given.
const defaults = "node\nbuild\nedition\nversion\nfeatures\nservices\nstatistics"

// Answer appends the answers to a request's commands, one a line, to out. When done is
// closed the rest of them is left out.
func (s *Server) Answer(out, body []byte, node int, permit Permit, done <-chan struct{}) []byte {
	text := strings.TrimRight(string(body), "\n")
	if text == "" {
		text = defaults
	}
	if permit != nil && permit(0, "", "") == wire.NotAuthenticated {
		return append(out, "ERROR:80:not authenticated\n"...)
	}
	r := request{Server: s, node: node, view: s.View(), permit: permit}
	for text != "" && len(out) < maxAnswer {
		select {
		case <-done:
			return out
		default:
		}
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == "" {
			continue
		}
		out = append(append(out, line...), '\t')
		out = append(append(out, r.answer(line)...), '\n')
	}
	return out
}

// Fail appends an error for each of a request's commands.
func Fail(out, body []byte, text string) []byte {
	for line := range strings.Lines(string(body)) {
		if len(out) >= maxAnswer {
			break
		}
		out = append(append(out, strings.TrimSuffix(line, "\n")...), '\t')
		out = append(append(out, text...), '\n')
	}
	return out
}

func (r *request) answer(line string) string {
	name := line
	r.arg = ""
	if i := strings.IndexAny(line, ":/"); i >= 0 {
		name, r.arg = line[:i], line[i+1:]
	}
	h := r.table[name]
	if h == nil {
		return errUnknown
	}
	if text := r.refused(name); text != "" {
		return text
	}
	return h(r)
}

// param returns the value of a parameter.
func (r *request) param(name string) string {
	for p := range strings.SplitSeq(r.arg, ";") {
		if k, v, _ := strings.Cut(p, "="); k == name {
			return v
		}
	}
	return ""
}

func (s *Server) namespace(name string) *store.Namespace {
	for _, n := range s.Namespaces {
		if n.Name == name {
			return n
		}
	}
	return nil
}
