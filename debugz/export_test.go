package debugz

// Remembered is how many looks and components a page remembers.
func Remembered(p *Page) (looks, subjects int) { return len(p.history.past), len(p.history.subjects) }
