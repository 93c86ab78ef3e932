package adaptive

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// draws takes windows out of bytes, ten at a time: any mix of calls, latencies from
// nanoseconds to hours, errors, use and silence.
func draws(data []byte) (ws []window) {
	for ; len(data) >= 10; data = data[10:] {
		w := window{span: time.Duration(binary.LittleEndian.Uint16(data)) * 17 * time.Microsecond}
		flags := data[9]
		for i, class := range []int{0, int(data[2]) % len(w.class)} {
			n := int(data[3+i]) % 100
			took := math.Exp2(float64(data[5+i]) / 6)
			w.class[class].n += n
			w.class[class].log += float64(n) * math.Log(took)
			if flags&1 == 0 || i == 1 {
				w.ok += n
				w.sum += float64(n) * took
			} else {
				w.errors += n // timed out
			}
		}
		w.fast = int(data[7]) % 20
		w.errors += w.fast
		w.wasted = float64(data[7]) / 255
		w.peak = int(data[8])
		w.busy = float64(w.peak) * float64(data[3]) / 255
		w.full, w.silent = flags&2 != 0, flags&4 != 0
		ws = append(ws, w)
	}
	return ws
}

// G-ADA-1, G-ADA-2: whatever is seen, the limit is between its bounds, isn't raised
// without having been in use, isn't lowered without a reason, and is a number; and the gap
// that it stands for has a bound.
func FuzzRule(f *testing.F) {
	f.Add([]byte("0123456789"), uint16(100), uint16(400), uint8(1))
	f.Add([]byte("\xff\xff\x03\x63\x63\xff\x01\x13\xff\x07\x00\x40\x00\x63\x63\x80\x80\x00\x10\x02"), uint16(1), uint16(1), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, low, high uint16, targets uint8) {
		r := &rule{low: minMin + float64(low)/1000}
		r.high = math.Max(1, r.low) + float64(high)
		r.static = (r.low + r.high) / 2
		for i := range r.targets {
			if targets>>(i%8)&1 == 1 {
				r.targets[i] = math.Exp2(float64(i) * 2)
			}
		}
		s := state{limit: min(max(startLimit, r.low), r.high), starting: true}
		for _, w := range draws(data) {
			v := r.read(&s, &w)
			_ = r.enough(&s, &w)
			next, ch := r.next(s, w)
			switch {
			case !next.sound(r):
				t.Fatalf("%+v after %+v: %v", next, w, ch)
			case ch.Cause == Remeasure && ch.To > ch.From && ch.To > max(s.again.from, math.Floor(ch.From)+1, r.static):
				t.Fatalf("raised beyond where it was: %v", ch)
			case ch.Cause == Remeasure && ch.To < ch.From*remeasureShare-1e-9:
				t.Fatalf("lowered by more than is measured with: %v", ch)
			case ch.Cause == Remeasure:
			case ch.To > ch.From && !v.binding:
				t.Fatalf("raised without use: %v", ch)
			case ch.To > ch.From && (w.silent || ch.Errors > errorNoise || ch.Ratio > ch.Tolerance):
				t.Fatalf("raised against the evidence: %v", ch)
			case ch.To < ch.From*(1-errorCut)-1e-9:
				t.Fatalf("lowered by more than half: %v", ch)
			case ch.To < ch.From && ch.Cause != Latency && ch.Cause != Errors && ch.Cause != Silence && ch.Cause != Idle:
				t.Fatalf("lowered without a reason: %v", ch)
			case ch.To > max(ch.From, headroom*math.Max(s.peak, float64(w.peak))+1):
				t.Fatalf("raised beyond what is used: %v", ch)
			case next.gap() < 0 || next.gap() > maxGap || (next.gap() > 0) != (next.limit < 1):
				t.Fatalf("limit %v with gap %v", next.limit, next.gap())
			case next.permits() < 1 || float64(next.permits()) > math.Max(1, r.high):
				t.Fatalf("%d permits of %v", next.permits(), next.limit)
			case next.length() < minWindow || next.length() > maxWindow || next.silence(next.latency) < minSilence || next.silence(next.latency) > longestSilence+maxGap:
				t.Fatalf("window %v, silence %v", next.length(), next.silence(next.latency))
			}
			s = next
		}
	})
}
