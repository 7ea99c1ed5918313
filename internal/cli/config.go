package cli

import (
	"math"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"lenslaunch/internal/address"
	"lenslaunch/internal/cpus"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/placement"
	"lenslaunch/internal/port"
	"lenslaunch/internal/proc"
	"lenslaunch/journal"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// config reads every flag of a run. Nothing is started or written before all of
// them have been found right.
func config(s settings, command []string, gpus gpuCount) (launcher.Config, error) {
	c := launcher.Config{Command: command, Env: s.env}
	for _, read := range []func(settings, *launcher.Config) error{
		readIdentity, readPolicy, readStop, readHang, readPlacement, readEnvironment, readPort, readTraced,
	} {
		if err := read(s, &c); err != nil {
			return c, err
		}
	}
	var err error
	c.Request, err = readRequest(s, c, gpus)
	return c, err
}

func readIdentity(s settings, c *launcher.Config) error {
	role := s.get("role")
	c.Role, c.RoleSet = role.text, role.given
	if err := role.name("trainer"); err != nil {
		return err
	}
	if id := s.get("run-id"); id.given {
		if err := id.name("run-7"); err != nil {
			return err
		}
		c.RunID = id.text
	}
	// What is there and no directory is a mistake even if the run keeps no ledger.
	state := s.get("state-dir")
	if info, err := os.Stat(state.text); err == nil && !info.IsDir() {
		return state.wrong("give a directory", "is no directory")
	}
	c.StateDir = state.text
	c.Dir = s.get("chdir").text
	return nil
}

func readPolicy(s settings, c *launcher.Config) error {
	var err error
	p := &c.Policy
	if p.MaxRestarts, err = s.get("max-restarts").integer(0, math.MaxInt32, "a number from 0"); err != nil {
		return err
	}
	if p.Delay, err = s.get("restart-delay").duration(); err != nil {
		return err
	}
	if p.DelayMax, err = s.get("restart-delay-max").duration(); err != nil {
		return err
	}
	if p.Window, err = s.get("restart-window").duration(); err != nil {
		return err
	}
	if p.MinUptime, err = s.get("min-uptime").duration(); err != nil {
		return err
	}
	if p.RestartOn, err = s.get("restart-on").exits(); err != nil {
		return err
	}
	p.NoRestartOn, err = s.get("no-restart-on").exits()
	return err
}

func readStop(s settings, c *launcher.Config) error {
	timeout, err := s.get("stop-timeout").duration()
	if err != nil {
		return err
	}
	v := s.get("stop-signal")
	if c.Stop, err = launcher.ParseLadder(v.text, timeout); err != nil {
		return misuse("", "%s %q: %v", v.from, v.text, err)
	}
	if c.Restop, err = s.get("restart-stop-timeout").duration(); err != nil {
		return err
	}
	if c.Grace, err = s.get("failure-grace").duration(); err != nil {
		return err
	}
	// KILL and STOP cannot be caught; CHLD, PIPE, URG and CONT are information for
	// the launcher alone.
	c.Forward, err = s.get("forward").signals(syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGURG, syscall.SIGCHLD,
		syscall.SIGPIPE, syscall.SIGCONT)
	if err != nil {
		return err
	}
	return readSave(s, c)
}

func readSave(s settings, c *launcher.Config) error {
	var err error
	if v := s.get("save-signal"); v.given {
		if c.Save, err = launcher.ParseSave(v.text); err != nil {
			return misuse("", "%s %q: %v", v.from, v.text, err)
		}
	}
	c.Save.Code, err = s.get("on-stop-code").integer(0, 255, "75")
	return err
}

// readHang reads what ends a job that does not end by itself, and what ends its ranks
// if the launcher cannot.
func readHang(s settings, c *launcher.Config) error {
	var err error
	if c.Hang.Timeout, err = s.get("hang-timeout").duration(); err != nil {
		return err
	}
	c.Hang.Command = s.get("on-hang").text
	if v := s.get("hang-signal"); v.given {
		if c.Hang.Signal, err = proc.ParseSignal(v.text); err != nil {
			return misuse("", "%s %q: %v", v.from, v.text, err)
		}
	}
	most := s.get("stop-timeout-max")
	c.StopMaxSet = most.given
	if c.StopMax, err = most.duration(); err != nil {
		return err
	}
	if c.GPURelease, err = s.get("gpu-release-timeout").duration(); err != nil {
		return err
	}
	guard, err := s.get("guard").choice("on", "off")
	if err != nil {
		return err
	}
	groups, err := s.get("cgroup").choice("auto", "off")
	c.Guard, c.Groups = guard == "on", groups == "auto"
	return err
}

func readPlacement(s settings, c *launcher.Config) error {
	v := s.get("cpu-bind")
	bind, err := placement.ParseMode(v.text)
	if err != nil {
		return misuse("", "%s: %v", v.from, err)
	}
	gpu, err := s.get("gpu-bind").choice("none", "single")
	if err != nil {
		return err
	}
	c.Placement = launcher.Placement{CPUs: bind, OneGPU: gpu == "single"}
	switch v := s.get("omp-threads"); v.text {
	case "auto":
	case "inherit":
		c.Placement.Inherit = true
	default:
		c.Placement.Threads, err = v.integer(1, math.MaxInt32, "auto, inherit or a number from 1")
	}
	return err
}

func readEnvironment(s settings, c *launcher.Config) error {
	for _, v := range s.all("env") {
		key, value, err := v.pair()
		if err == nil {
			err = v.variable(key)
		}
		if err != nil {
			return err
		}
		c.SetEnv = append(c.SetEnv, launcher.EnvVar{Key: key, Value: value})
	}
	for _, v := range s.all("unset-env") {
		if err := v.variable(v.text); err != nil {
			return err
		}
		c.UnsetEnv = append(c.UnsetEnv, v.text)
	}
	var err error
	if c.Attrs, err = attributes(s.all("attr"), launcher.OwnsAttribute); err != nil {
		return err
	}
	c.AttrDefaults, err = attributes(s.all("attr-default"), launcher.OwnsAttribute)
	return err
}

// readTraced reads what ranks get of telemetry.
func readTraced(s settings, c *launcher.Config) error {
	without, err := s.get("no-traceparent").yes()
	if err != nil {
		return err
	}
	c.Traceparent = !without
	c.JournalSlots, err = s.get("journal-slots").integer(1, journal.MaxSlots, "a number from 1 to "+strconv.Itoa(journal.MaxSlots))
	return err
}

func readPort(s settings, c *launcher.Config) error {
	v := s.get("port-range")
	if v := s.get("iface"); v.given {
		if _, wrong := address.System().Interface(v.text); wrong != nil {
			return v.wrong("name the interface of the nodes' network", "cannot be used: "+wrong.Error())
		}
		c.Iface = v.text
	}
	var err error
	if c.PortRange, err = port.ParseRange(v.text); err != nil {
		return v.wrong("write the first and the last port, as in 20000-29999", "is no range of ports")
	}
	if v := s.get("master-port"); v.given {
		if c.MasterPort, err = v.integer(1, 65535, "a port from 1 to 65535"); err != nil {
			return err
		}
	}
	// Two colons are an IPv6 address or nothing: ranks would wait long for such a name.
	addr := s.get("master-addr")
	if _, err := netip.ParseAddr(addr.text); strings.Count(addr.text, ":") > 1 && err != nil {
		return addr.wrong("write a host's name or address, and the port with --master-port", "is no address")
	}
	return nil
}

// readRequest is what package ranks needs to say who this node is.
func readRequest(s settings, c launcher.Config, gpus gpuCount) (ranks.Request, error) {
	r := ranks.Request{
		NProc: s.get("nproc").text, NProcSet: s.get("nproc").given, MasterAddr: s.get("master-addr").text, MasterPort: c.MasterPort,
		Scheduler: s.get("scheduler").text, MaxRestarts: c.Policy.MaxRestarts,
		CPUs: cpus.Usable(os.DirFS("/")), Foreign: ranks.ForeignProcess, StepAbove: ranks.StepAbove, Origin: map[string]string{},
	}
	r.GPUs, r.GPUsKnown = gpus()
	for _, name := range []string{"nproc", "nnodes", "node-rank", "master-addr", "master-port", "scheduler", "max-restarts"} {
		r.Origin["--"+name] = s.get(name).from
	}
	var err error
	if r.NNodes, err = s.get("nnodes").optional(1, "a number of nodes, from 1"); err != nil {
		return r, err
	}
	r.NodeRank, err = s.get("node-rank").optional(0, "this node's place, from 0")
	r.HasRunID = launcher.HasRunID(c)
	return r, err
}

// readOutput needs the number of ranks, so it is read after the world is known.
func readOutput(s settings, w ranks.World) (launcher.Output, error) {
	v := s.get("output")
	mode := launcher.OutputPrefix
	if w.LocalSize == 1 {
		mode = launcher.OutputPlain
	}
	if v.given {
		text, err := v.choice("prefix", "plain", "rank0", "none")
		if err != nil {
			return launcher.Output{}, err
		}
		mode = launcher.OutputMode(text)
	}
	picked, err := s.get("ranks").list(w.LocalSize)
	if err != nil {
		return launcher.Output{}, err
	}
	out := launcher.Output{Mode: mode, Stdin: -1}
	out.Shown = func(local, rank int) bool {
		return mode != launcher.OutputNone && (picked == nil || picked[local]) && (mode != launcher.OutputRank0 || rank == 0)
	}
	if out.Stdin, err = readStdin(s.get("stdin"), w.LocalSize); err != nil {
		return out, err
	}
	return out, readPrefix(s, &out)
}

// readPrefix reads how lines begin. Who asks for a prefix of its own wants one also where
// there is none by default.
func readPrefix(s settings, out *launcher.Output) error {
	v, mode := s.get("prefix-template"), s.get("output")
	text := logmux.DefaultTemplate
	if v.given {
		if mode.given && out.Mode != launcher.OutputPrefix {
			return v.wrong("leave one of them out", "is for --output prefix, not for "+mode.from+" "+mode.text)
		}
		text, out.Mode = v.text, launcher.OutputPrefix
	}
	var err error
	if out.Prefix, err = logmux.ParseTemplate(text); err != nil {
		return misuse("", "%s: %v", v.from, err)
	}
	return nil
}

// readLogs reads what is kept in files.
func readLogs(s settings, w ranks.World) (launcher.Logs, error) {
	dir := s.get("log-dir")
	logs := launcher.Logs{Dir: dir.text}
	if dir.given && dir.text == "" {
		return logs, dir.wrong("give a directory", "is no directory")
	}
	var err error
	if logs.MaxSize, err = s.get("log-max-size").size(); err != nil {
		return logs, err
	}
	if logs.Keep, err = s.get("log-keep").integer(0, 1<<20, "a number from 0"); err != nil {
		return logs, err
	}
	switch v := s.get("tee"); v.text {
	case "all":
	case "none":
		logs.Tee = func(int) bool { return false }
	default:
		picked, err := v.list(w.LocalSize)
		if err != nil {
			return logs, err
		}
		logs.Tee = func(local int) bool { return picked[local] }
	}
	for _, name := range []string{"log-max-size", "log-keep", "tee"} {
		if v := s.get(name); v.given && !dir.given {
			return logs, v.wrong("give --log-dir DIR as well", "is for files, and there are none")
		}
	}
	return logs, nil
}

func readStdin(v setting, n int) (int, error) {
	switch {
	case !v.given && n == 1:
		return 0, nil
	case !v.given || v.text == "none":
		return -1, nil
	}
	return v.integer(0, n-1, "a local rank from 0 to "+strconv.Itoa(n-1)+", or none")
}
