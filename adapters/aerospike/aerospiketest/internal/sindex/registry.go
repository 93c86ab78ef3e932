package sindex

import (
	"errors"
	"slices"
	"sync"
)

// An Index is a definition with a name.
type Index struct {
	Namespace, Name string
	Definition
}

// maxIndexes is how many indexes a namespace can have.
const maxIndexes = 256

// Errors of indexes that can't be added: one of the name and of another definition is
// there, or there are too many.
var (
	ErrExists = errors.New("sindex: index of that name exists")
	ErrMany   = errors.New("sindex: too many indexes")
)

// A Registry holds the indexes of a cluster. All methods are safe for concurrent
// use. The zero value has none.
type Registry struct {
	mu  sync.RWMutex
	all []Index // guarded by mu; in the order in which they were created
}

// Add adds an index. One that is there already, with the same definition, is
// fine. There is one index of a definition: another name is a new name for it.
func (r *Registry) Add(x Index) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.findLocked(x.Namespace, x.Name); i >= 0 {
		if r.all[i] != x {
			return ErrExists
		}
		return nil
	}
	n := 0
	for i, y := range r.all {
		if x.Namespace != y.Namespace {
			continue
		}
		if x.Definition == y.Definition {
			r.all[i].Name = x.Name
			return nil
		}
		n++
	}
	if n >= maxIndexes {
		return ErrMany
	}
	r.all = append(r.all, x)
	return nil
}

// Drop removes an index, if it is there.
func (r *Registry) Drop(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.findLocked(namespace, name); i >= 0 {
		r.all = slices.Delete(r.all, i, i+1)
	}
}

// Get returns the index of a name.
func (r *Registry) Get(namespace, name string) (x Index, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := r.findLocked(namespace, name); i >= 0 {
		return r.all[i], true
	}
	return Index{}, false
}

// Find returns the index that a query of a definition uses: the one of that
// definition, or else of the same one for the whole namespace.
func (r *Registry) Find(namespace string, d Definition) (x Index, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for {
		for _, x := range r.all {
			if x.Namespace == namespace && x.Definition == d {
				return x, true
			}
		}
		if d.Set == "" {
			return Index{}, false
		}
		d.Set = ""
	}
}

// List returns the indexes of a namespace, or all with an empty one.
func (r *Registry) List(namespace string) []Index {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(r.all), func(x Index) bool { return namespace != "" && x.Namespace != namespace })
}

func (r *Registry) findLocked(namespace, name string) int {
	return slices.IndexFunc(r.all, func(x Index) bool { return x.Namespace == namespace && x.Name == name })
}
