package hammer

import "sync"

// Together runs f on n goroutines that start at the same moment, and returns when all
// have ended.
func Together(n int, f func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			<-start
			f(i)
		}()
	}
	close(start)
	all.Wait()
}
