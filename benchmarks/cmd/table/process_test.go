package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What others have started is not the case's: it counts neither while it stays nor when it goes.
func TestProcessCountsWhatTheCaseAdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		park := func(n int, over chan struct{}) {
			for range n {
				go func() { <-over }()
			}
		}
		stay, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		defer close(stay)
		park(500, stay)
		park(500, leave)
		close(leave)
		p := watchProcess()
		park(100, done)
		time.Sleep(4 * lookEvery)
		close(done)
		goroutines, _ := p.end()
		require.InDelta(t, 100, goroutines, 5)
	})
}
