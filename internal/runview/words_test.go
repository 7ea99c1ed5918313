package runview

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestRanksWord(t *testing.T) {
	var odd []int
	for i := range 400 {
		odd = append(odd, 2*i+1)
	}
	if got := ranksWord([]int{4}); got != "rank 4" {
		t.Error(got)
	}
	if got := ranksWord([]int{4, 5}); got != "ranks 4-5" {
		t.Error(got)
	}
	if got := ranksWord(odd); len(got) > 80 || !strings.HasSuffix(got, "…") {
		t.Errorf("a list with 400 gaps: %q", got)
	}
}

func TestLasted(t *testing.T) {
	tests := map[time.Duration]string{
		-time.Second: "0ms", 0: "0ms", 999 * time.Microsecond: "0ms", 850 * time.Millisecond: "850ms", time.Second: "1.0s",
		12345 * time.Millisecond: "12.3s", 59999 * time.Millisecond: "59.9s", time.Minute: "1m00s", 92 * time.Second: "1m32s",
		time.Hour: "1h00m", 2*time.Hour + 3*time.Minute: "2h03m", 76 * time.Hour: "3d04h", math.MaxInt64: "106751d23h",
	}
	for d, want := range tests {
		if got := lasted(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	// A reader in another zone reads the same.
	at := time.Date(2025, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600))
	if got := moment(at); got != "2025-03-04 04:06:07 UTC" {
		t.Error(got)
	}
	if got := stamp(at); got != "2025-03-04 04:06:07" {
		t.Error(got)
	}
	if got := moment(time.Time{}); got != "not known" {
		t.Error(got)
	}
}

func TestSize(t *testing.T) {
	tests := map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 KiB", 1536: "1.5 KiB", 100 << 10: "100 KiB", 5 << 20: "5.0 MiB",
		8 << 30: "8.0 GiB", 1 << 50: "1024 TiB",
	}
	for n, want := range tests {
		if got := size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
