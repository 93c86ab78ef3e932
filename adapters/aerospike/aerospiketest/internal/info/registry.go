package info

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// An Index is a secondary index's definition. Nothing is indexed: definitions
// are kept so that drivers can create, wait for and drop them.
type Index struct {
	Namespace, Name, Set, Bin string
	Type                      string // numeric, string, blob or geo2dsphere
	Collection                string // default, list, mapkeys or mapvalues
	Context                   string // in base64, or null
}

// line is what lists show.
func (x Index) line() string {
	set := x.Set
	if set == "" {
		set = "null"
	}
	return "ns=" + x.Namespace + ":indexname=" + x.Name + ":set=" + set + ":bin=" + x.Bin + ":type=" + x.Type +
		":indextype=" + x.Collection + ":context=" + x.Context + ":exp=null:state=RW"
}

// Indexes are the definitions of a cluster. All methods are safe for concurrent
// use. The zero value has none.
type Indexes struct {
	mu  sync.Mutex
	all []Index // guarded by mu; in the order in which they were created
}

// Add adds a definition. Another one of the same name is an error, the same one
// is not.
func (l *Indexes) Add(x Index) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.findLocked(x.Namespace, x.Name); i >= 0 {
		if l.all[i] != x {
			return "ERROR:200:index already exists"
		}
		return "ok"
	}
	l.all = append(l.all, x)
	return "ok"
}

// Drop removes a definition, if it is there.
func (l *Indexes) Drop(namespace, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.findLocked(namespace, name); i >= 0 {
		l.all = slices.Delete(l.all, i, i+1)
	}
}

// Has reports whether an index of a name is there.
func (l *Indexes) Has(namespace, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.findLocked(namespace, name) >= 0
}

// List returns the definitions of a namespace, or all.
func (l *Indexes) List(namespace string) []Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all), func(x Index) bool { return namespace != "" && x.Namespace != namespace })
}

func (l *Indexes) findLocked(namespace, name string) int {
	return slices.IndexFunc(l.all, func(x Index) bool { return x.Namespace == namespace && x.Name == name })
}

// definition reads the parameters of a new index. ok says whether they can be.
func (r *request) definition() (x Index, ok bool) {
	x = Index{Namespace: r.namespaceParam(), Name: r.param("indexname"), Set: r.param("set"), Bin: r.param("bin"),
		Type: strings.ToLower(r.param("type")), Collection: strings.ToLower(r.param("indextype")), Context: r.param("context")}
	if data := r.param("indexdata"); data != "" { // the older form, which the Go driver sends
		var typ string
		x.Bin, typ, _ = strings.Cut(data, ",")
		x.Type = strings.ToLower(typ)
	}
	if x.Collection == "" {
		x.Collection = "default"
	}
	if x.Context == "" {
		x.Context = "null"
	} else if _, err := base64.StdEncoding.DecodeString(x.Context); err != nil {
		return x, false
	}
	ok = x.Name != "" && len(x.Name) < 64 && x.Bin != "" && len(x.Bin) <= wire.MaxBinName && len(x.Set) <= wire.MaxSetName &&
		slices.Contains([]string{"numeric", "string", "blob", "geo2dsphere"}, x.Type) &&
		slices.Contains([]string{"default", "list", "mapkeys", "mapvalues"}, x.Collection)
	return x, ok
}
