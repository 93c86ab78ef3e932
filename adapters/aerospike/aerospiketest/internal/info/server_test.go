package info_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
)

func TestAnswerLeavesTheRestOutWhenDone(t *testing.T) {
	s := &info.Server{View: func() *info.View { return info.NewView(info.Layout{Members: []info.Member{{Up: true}}, Factor: 1}) }}
	s.Init()
	done := make(chan struct{})
	body := []byte("build\nstatus\n")
	require.Equal(t, "build\t"+info.Build+"\nstatus\tok\n", string(s.Answer(nil, body, 0, nil, done)))
	close(done)
	require.Empty(t, s.Answer(nil, body, 0, nil, done))
}
