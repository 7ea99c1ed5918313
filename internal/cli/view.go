package cli

import (
	"sync"
	"syscall"
	"time"

	"lenslaunch/internal/runview"
	"lenslaunch/internal/screen"
	"lenslaunch/launcher"
)

// view is the screen with what steers it.
type view struct {
	*screen.Screen
	continued chan struct{} // SIGCONT came
	moves     chan runview.Move
	done      chan struct{} // closed: nobody takes moves any more

	ended syscall.Signal // ended it, 0: none did; set before moves is closed
}

// watch shows the table until a key or a signal ends it.
func (v *view) watch(sample func() (runview.Snapshot, error), signals <-chan launcher.Signal, interval time.Duration) (string, error) {
	var steering sync.WaitGroup
	steering.Go(func() { v.steer(signals, v.Keys()) })
	defer steering.Wait()
	defer close(v.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	return runview.Watch(sample, v, ticker.C, v.moves)
}

// steer turns signals and keys into moves until one of them ends the view.
func (v *view) steer(signals <-chan launcher.Signal, keys <-chan screen.Key) {
	defer close(v.moves)
	for {
		var move runview.Move
		select {
		case <-v.done:
			return
		case key, ok := <-keys:
			if !ok {
				v.ended = syscall.SIGHUP // the terminal has gone
				return
			}
			move = moveOf(key)
		case sig := <-signals:
			switch sig.Number {
			case syscall.SIGCHLD:
				continue // of the program that is asked about GPUs
			case syscall.SIGWINCH:
				move = runview.Redraw
			case syscall.SIGTSTP:
				move = runview.Pause
			case syscall.SIGCONT:
				select {
				case v.continued <- struct{}{}:
				default:
				}
				move = runview.Redraw
			default:
				v.ended = sig.Number
				return
			}
		}
		select {
		case v.moves <- move:
		case <-v.done:
			return
		}
	}
}

// Pause gives the terminal back and stops this process, as Ctrl-Z asks, until it is
// continued.
func (v *view) Pause() error {
	select {
	case <-v.continued: // of an earlier time
	default:
	}
	if err := v.Suspend(); err != nil {
		return err
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	<-v.continued
	return v.Resume()
}

func moveOf(key screen.Key) runview.Move {
	switch key {
	case 'q', 'Q':
		return runview.Leave
	case screen.KeyUp, 'k':
		return runview.Up
	case screen.KeyDown, 'j':
		return runview.Down
	case screen.KeyPageUp, 'b':
		return runview.PageUp
	case screen.KeyPageDown, ' ', 'f':
		return runview.PageDown
	case screen.KeyHome, 'g':
		return runview.Top
	case screen.KeyEnd, 'G':
		return runview.Bottom
	}
	return runview.Redraw
}
