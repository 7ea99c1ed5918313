package launcher

import (
	"testing"
	"testing/synctest"
	"time"

	"lenslaunch/internal/heartbeat"
	"lenslaunch/internal/logmux"
)

// A suspended job is not judged, however long that takes: process 1 of a container goes
// on while its ranks stand still. Afterwards the ranks have a whole period.
func TestSuspendedRanksDoNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		inputs := make(chan input, 1)
		m := newMonitor(Config{Hang: Hang{Timeout: timeout}}, 1, "", "", inputs)
		go m.run()
		defer m.close()
		began := time.Now()
		w := &watched{Watch: heartbeat.New(timeout, 0, began), pulse: new(logmux.Pulse)}
		m.tell(news{at: began, begin: w})
		m.tell(news{paused: true})
		select {
		case in := <-inputs:
			t.Fatalf("judged while suspended: %+v", in)
		case <-time.After(time.Hour):
		}
		continued := time.Now()
		m.tell(news{at: continued, fresh: true})
		if in, ok := (<-inputs).(inHang); !ok || in.at.Sub(continued) != timeout {
			t.Errorf("judged %v after the suspension: %+v", in.at.Sub(continued), in)
		}
	})
}
