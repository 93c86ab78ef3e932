package permit

// UseMask is the most that the word can count as in use.
const UseMask = useMask

// Bits names the bits of the word that say that somebody waits, or that there are
// ghosts.
func (c *Core) Bits() []string {
	var names []string
	s := c.word.Load()
	if s&waitingBit != 0 {
		names = append(names, "waiting")
	}
	if s&ghostsBit != 0 {
		names = append(names, "ghosts")
	}
	return names
}

// SlotCount returns how many slots the table has.
func (c *Core) SlotCount() int { return int(c.slots.Len()) }

// Armed reports whether the timer is set.
func (c *Core) Armed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.armed != 0
}

// Alone runs f while nobody else can take the lock.
func (c *Core) Alone(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// InUse is what the word says, without the lock.
func (c *Core) InUse() int { return int(useOf(c.word.Load())) }

// Due reports whether the pace would let a call in.
func (c *Core) Due() bool { return c.isDue() }
