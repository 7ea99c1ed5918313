//go:build stress

package stress

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// The workers are this test binary again: 400 of them must fit into the
// memory of a small machine, which Python's would not.
const (
	workerVariable = "STRESS_WORKER" // set: be a worker
	gateVariable   = "STRESS_GATE"   // where rank 0 reports and waits
	patience       = 90 * time.Second
)

// sighting is what one rank knows about itself.
type sighting struct {
	Launch  string // STRESS_WORKER, the number of the launch
	Rank    string
	Port    string
	Carrier string
}

// report is what rank 0 tells the gate: its own sighting and rank 1's.
type report [2]sighting

func self() sighting {
	return sighting{
		Launch: os.Getenv(workerVariable), Rank: os.Getenv("RANK"),
		Port: os.Getenv("MASTER_PORT"), Carrier: os.Getenv("OTEL_RESOURCE_ATTRIBUTES"),
	}
}

// work plays torch's rendezvous: rank 0 listens on MASTER_PORT, rank 1
// connects and says who it is. Both then wait until every launch of the test
// has come so far, so that all the ports are in use at the same time.
func work() error {
	address := net.JoinHostPort(os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT"))
	if os.Getenv("RANK") == "0" {
		return host(address)
	}
	return join(address)
}

func host(address string) error {
	// Go sets SO_REUSEADDR on listening sockets, as torch's store does.
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer listener.Close()
	deadline := time.Now().Add(patience)
	if err := listener.(*net.TCPListener).SetDeadline(deadline); err != nil {
		return fmt.Errorf("cannot bound the wait: %w", err)
	}
	peer, err := listener.Accept()
	if err != nil {
		return fmt.Errorf("rank 1 did not come: %w", err)
	}
	defer peer.Close()
	if err := peer.SetDeadline(deadline); err != nil {
		return fmt.Errorf("cannot bound the wait: %w", err)
	}
	both := report{0: self()}
	if err := json.NewDecoder(peer).Decode(&both[1]); err != nil {
		return fmt.Errorf("cannot hear rank 1: %w", err)
	}
	if err := passGate(both, deadline); err != nil {
		return err
	}
	_, err = peer.Write([]byte("go\n"))
	return err
}

// passGate reports to the test and returns once it opens the gate.
func passGate(both report, deadline time.Time) error {
	gate, err := net.Dial("tcp", os.Getenv(gateVariable))
	if err != nil {
		return fmt.Errorf("cannot reach the gate: %w", err)
	}
	defer gate.Close()
	if err := gate.SetDeadline(deadline); err != nil {
		return fmt.Errorf("cannot bound the wait: %w", err)
	}
	if err := json.NewEncoder(gate).Encode(both); err != nil {
		return fmt.Errorf("cannot report: %w", err)
	}
	return awaitGo(gate)
}

func join(address string) error {
	peer, err := dial(address)
	if err != nil {
		return fmt.Errorf("cannot reach rank 0: %w", err)
	}
	defer peer.Close()
	if err := peer.SetDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("cannot bound the wait: %w", err)
	}
	if err := json.NewEncoder(peer).Encode(self()); err != nil {
		return fmt.Errorf("cannot say who I am: %w", err)
	}
	return awaitGo(peer)
}

func awaitGo(conn net.Conn) error {
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && line != "go\n" {
		err = errors.New("unexpected answer " + line)
	}
	if err != nil {
		return fmt.Errorf("the gate did not open: %w", err)
	}
	return nil
}

// dial tries until rank 0 listens; refused only means that it is not there yet.
func dial(address string) (net.Conn, error) {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	deadline := time.Now().Add(patience)
	for {
		conn, err := net.DialTimeout("tcp", address, time.Until(deadline))
		if err == nil || time.Now().After(deadline) {
			return conn, err
		}
		<-retry.C
	}
}
