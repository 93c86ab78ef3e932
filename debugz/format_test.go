package debugz

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHuman(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0", 0: "0", 499: "0", 500: "0.5µs", 1234: "1.2µs", 9949: "9.9µs", 9950: "10µs", 999_499: "999µs", 999_500: "1.0ms",
		1_234_567: "1.2ms", 9_949_999: "9.9ms", 9_950_000: "10ms", 123 * time.Millisecond: "123ms", 999_499_999: "999ms", 999_500_000: "1.0s",
		59_949 * time.Millisecond: "59.9s", 59_950 * time.Millisecond: "1m0s", 200 * time.Second: "3m20s",
		time.Hour - 1: "1h0m", 2*time.Hour + 5*time.Minute: "2h5m", 24 * time.Hour: "1d0h", 76 * time.Hour: "3d4h",
	} {
		require.Equal(t, want, human(d), int64(d))
	}
}

func TestFigures(t *testing.T) {
	require.Equal(t, "–", unknown().String())
	require.Equal(t, "-1", unknown().Key())
	require.Equal(t, "0.5", seconds(0.5).Key())
	for v, want := range map[float64]string{0: "0", 0.04: "0.0/s", 1.26: "1.3/s", 9.96: "10/s", 1234567.8: "1,234,568/s"} {
		require.Equal(t, want, perSecond(v).String())
	}
	require.Equal(t, "–", unknownRate().String())
	text, err := json.Marshal([]any{unknown(), seconds(1.5), unknownRate(), perSecond(2), seconds(math.Inf(1))})
	require.NoError(t, err)
	require.JSONEq(t, `[null,1.5,null,2,null]`, string(text))
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", math.MaxUint64: "18,446,744,073,709,551,615"} {
		require.Equal(t, want, thousands(n))
	}
}

func TestPlaces(t *testing.T) {
	for site, want := range map[string]string{
		"shop/api.(*Server).profile /src/shop/api/profile.go:57": "api.(*Server).profile profile.go:57",
		`main.main C:\src\main.go:1`:                             "main.main main.go:1",
		"somewhere":                                              "somewhere",
		"":                                                       "",
	} {
		require.Equal(t, want, placeOf(site).String())
	}
	require.Equal(t, "a b/c.go:1", placeOf("a b/c.go:1").Full())
}

func TestPrintable(t *testing.T) {
	require.Equal(t, "a·b·é…", printable("a\nb\x1bé")+"…")
	require.Len(t, []rune(printable(string(make([]rune, 1000)))), maxText+1)
	require.Equal(t, "·", printable("\xff"))
}

// What is forgotten first is what is close to something that is kept.
func TestThin(t *testing.T) {
	now := time.Unix(10_000, 0)
	var looks []past
	for i := range 200 {
		at := now.Add(time.Duration(i) * time.Second)
		looks = thin(append(looks, past{at: at}), at)
		require.LessOrEqual(t, len(looks), 20)
	}
	end := looks[len(looks)-1].at
	for i, p := range looks {
		age := end.Sub(p.at)
		require.LessOrEqual(t, age, oldest)
		if i > 0 && age > dense {
			require.GreaterOrEqual(t, p.at.Sub(looks[i-1].at), dense)
		}
	}
	require.Greater(t, end.Sub(looks[0].at), oldest-2*dense, "a minute is remembered")
	require.Len(t, looks[len(looks)-6:], 6)
	require.Equal(t, 5*time.Second, end.Sub(looks[len(looks)-6].at), "the last seconds all of them")
}
