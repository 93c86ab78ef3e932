package spillway_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

func TestModeTextGoesThereAndBack(t *testing.T) {
	for mode, name := range map[spillway.Mode]string{
		spillway.Enforce: "enforce", spillway.Shadow: "shadow", spillway.Off: "off", spillway.RefuseAll: "refuse-all",
	} {
		require.True(t, mode.Valid())
		require.Equal(t, name, mode.String())
		text, err := json.Marshal(mode)
		require.NoError(t, err)
		require.Equal(t, `"`+name+`"`, string(text))
		got := spillway.Mode(77)
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, mode, got)
	}
}

// B-11.
func TestModeOfAnUnknownNameIsAnErrorAndChangesNothing(t *testing.T) {
	for _, text := range []string{"", "Enforce", "refuse_all", "on"} {
		m := spillway.Shadow
		require.ErrorContains(t, m.UnmarshalText([]byte(text)), "want enforce, shadow, off or refuse-all")
		require.Equal(t, spillway.Shadow, m)
	}
}

func TestModeThatDoesNotExistHasNoText(t *testing.T) {
	m := spillway.Mode(4)
	require.False(t, m.Valid())
	require.Equal(t, "mode(4)", m.String())
	_, err := m.MarshalText()
	require.Error(t, err)
}

func TestTrackIsOneOfThree(t *testing.T) {
	for track, valid := range map[spillway.Track]bool{spillway.TrackOff: true, spillway.TrackSite: true, spillway.TrackStack: true, 3: false} {
		require.Equal(t, valid, track.Valid())
	}
}

// F10.
func TestClassTravelsInTheContext(t *testing.T) {
	_, ok := spillway.ClassFrom(t.Context())
	require.False(t, ok)
	ctx := spillway.WithClass(t.Context(), spillway.Critical)
	inner := spillway.WithClass(ctx, "nightly")
	c, ok := spillway.ClassFrom(inner)
	require.True(t, ok)
	require.Equal(t, spillway.Class("nightly"), c)
	c, _ = spillway.ClassFrom(ctx)
	require.Equal(t, spillway.Critical, c)
}
