package lifecycle

// Alone runs f while nobody else can take the machine's lock.
func (m *Machine[C]) Alone(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// Alone runs f while nobody else can take the registry's lock, or that of its machines.
func (r *Registry[K, C]) Alone(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range *r.entries.Load() {
		e.machine.mu.Lock()
		defer e.machine.mu.Unlock()
	}
	f()
}
