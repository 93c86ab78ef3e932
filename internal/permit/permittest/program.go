package permittest

import (
	"context"
	"errors"
	"math/rand/v2"
)

// Program returns random steps for those who read a program of bytes, behind the settings.
func Program(r *rand.Rand, settings byte) []byte {
	program := make([]byte, 240)
	for i := range program {
		program[i] = byte(r.Uint32())
	}
	program[0] = settings
	return program
}

// TextOf returns what [Answer.Text] is of a call that got err.
func TextOf(err error) string {
	var typed interface{ ErrorType() string }
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &typed):
		return typed.ErrorType()
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	}
	return err.Error()
}
