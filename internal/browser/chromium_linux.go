//go:build linux && (amd64 || arm64)

package browser

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"github.com/cairn-rag/cairn/internal/sandbox"
)

// program is where Debian installs Chromium. The one on the PATH is a script that reads
// settings of the machine.
const program = "/usr/lib/chromium/chromium"

// browserUser is the user as which Chromium runs if the worker is root. No account has its
// number, and no job of package sandbox.
const browserUser = 61183

const (
	// watchInterval is how often the memory of Chromium is looked at.
	watchInterval = 250 * time.Millisecond
	// maxFiles bounds the files that Chromium writes, together, in bytes. They are in
	// memory.
	maxFiles = 256 << 20
	// maxProcesses bounds its processes and threads.
	maxProcesses = 1024
	// complaintBytes is how much of its standard error is kept.
	complaintBytes = 4 << 10
)

func installed() error {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return errors.New("bubblewrap is not installed")
	}
	if _, err := os.Stat(program); err != nil {
		return errors.New("Chromium is not installed") //nolint:staticcheck // a name
	}
	return nil
}

// chromium is one running Chromium. Its fields may be read when ready is closed.
type chromium struct {
	cfg     Config
	ready   chan struct{}
	failure error // to start

	conn    *connection
	agent   string // User-Agent of its requests
	proxies []*proxy
	at      []string // addresses of the proxies, as Chromium sees them

	pid   int
	ended chan struct{} // closed when all of its processes have ended
}

// hasEnded reports whether there is nothing to open pages with.
func (c *chromium) hasEnded() bool {
	select {
	case <-c.ready:
	default:
		return false
	}
	select {
	case <-c.ended:
		return true
	default:
		return c.failure != nil
	}
}

// start starts Chromium, with the sandbox that it has for its own processes where the
// system allows that inside of bubblewrap, else without.
func (c *chromium) start(ctx context.Context) error {
	if err := Available(); err != nil {
		close(c.ended)
		return err
	}
	first := c.try(ctx)
	if first == nil {
		return nil
	}
	c.ended = make(chan struct{})
	if err := c.try(ctx, "--no-sandbox"); err != nil {
		return fmt.Errorf("start Chromium: %w", errors.Join(first, err))
	}
	return nil
}

// try starts Chromium once. If that fails, nothing of it is left.
func (c *chromium) try(ctx context.Context, flags ...string) (err error) {
	f, err := newFiles(c.cfg.Launcher[0])
	if err != nil {
		close(c.ended)
		return err
	}
	defer f.closeTheirs()
	cmd := exec.Command("bwrap", c.arguments(flags)...)
	cmd.Env, cmd.Dir = []string{}, "/" // the variables of the worker hold secrets
	complaint := &limited{left: complaintBytes}
	cmd.Stderr = complaint
	cmd.ExtraFiles = f.theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: browserUser, Gid: browserUser}
	}
	cmd.WaitDelay = time.Second
	if err := c.run(cmd, f); err != nil {
		return err
	}
	f.closeTheirs()
	defer context.AfterFunc(ctx, func() { _ = f.listeners.SetDeadline(time.Now()) })()
	if err := c.greet(ctx, f); err != nil {
		c.stop()
		return fmt.Errorf("%w: %s", err, complaint.text())
	}
	return nil
}

// run starts the process, and watches it until it ends. The kernel ends a process with
// the thread that started it, so a thread stays for it.
func (c *chromium) run(cmd *exec.Cmd, f *files) error {
	started := make(chan error)
	ended := c.ended
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		defer f.closeOurs()
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start bubblewrap: %w", err)
	}
	go c.watch(c.pid, ended)
	return nil
}

// watch kills Chromium when it uses too much memory.
func (c *chromium) watch(pid int, ended <-chan struct{}) {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return
		case <-look.C:
			if used := sandbox.Memory(pid); used > c.cfg.Memory {
				c.cfg.Logger.Warn("the browser used too much memory", "bytes", used, "limit", c.cfg.Memory)
				sandbox.Kill(pid, ended)
				return
			}
		}
	}
}

// greet receives the listeners and waits until Chromium answers.
func (c *chromium) greet(ctx context.Context, f *files) error {
	listeners, err := receiveListeners(f.listeners, c.cfg.Pages)
	c.proxies, c.at = nil, nil
	for _, l := range listeners {
		c.proxies, c.at = append(c.proxies, newProxy(l, c.cfg.Dialer)), append(c.at, l.address)
	}
	if err != nil {
		return err
	}
	c.conn = connect(f.answers, f.commands)
	_, _, _, agent, _, err := browser.GetVersion().Do(cdp.WithExecutor(ctx, session{connection: c.conn}))
	c.agent = strings.TrimSpace(agent + " " + c.cfg.Agent)
	return err
}

// stop ends Chromium and returns when all of its processes have ended.
func (c *chromium) stop() {
	if c.pid != 0 {
		sandbox.Kill(c.pid, c.ended)
	}
	for _, p := range c.proxies {
		_ = p.server.Close() // its listener with it
	}
}

// arguments returns the arguments of bubblewrap.
func (c *chromium) arguments(flags []string) []string {
	args := []string{
		"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000",
		"--hostname", "browser", "--ro-bind", "/usr", "/usr",
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(name); err == nil {
			args = append(args, "--symlink", target, name)
		} else {
			args = append(args, "--ro-bind-try", name, name)
		}
	}
	for _, name := range []string{"/etc/alternatives", "/etc/ld.so.cache", "/etc/fonts", "/etc/ssl/certs", "/etc/localtime"} {
		args = append(args, "--ro-bind-try", name, name)
	}
	files := strconv.Itoa(maxFiles)
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", files, "--tmpfs", "/dev/shm", "--size", files, "--tmpfs", "/tmp",
		"--remount-ro", "/", "--chdir", "/tmp", "--clearenv",
		"--setenv", "PATH", "/usr/bin:/bin", "--", "nice", "-n", "10", "prlimit", fmt.Sprintf("--nproc=%d", maxProcesses), "--core=0", "--", launcherPath)
	args = append(args, c.cfg.Launcher[1:]...)
	args = append(args, strconv.Itoa(c.cfg.Pages), program)
	return append(append(args, settings...), flags...)
}

// settings are Chromium's. Its network leads nowhere, so those about connections only
// save it attempts that fail.
var settings = []string{
	"--headless=new", "--remote-debugging-pipe", "--user-data-dir=/tmp/profile", "--no-first-run", "--no-default-browser-check",
	"--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=<-loopback>", // what belongs to no page
	"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
	"--dns-prefetch-disable", "--disable-background-networking", "--disable-component-update", "--disable-domain-reliability",
	"--disable-client-side-phishing-detection", "--disable-sync", "--disable-breakpad", "--no-pings", "--metrics-recording-only",
	"--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,InterestFeedContentSuggestions,AutofillServerCommunication",
	"--disable-extensions", "--disable-plugins", "--disable-gpu", "--disable-software-rasterizer", "--mute-audio", "--hide-scrollbars",
	"--disable-notifications", "--deny-permission-prompts",
	"--renderer-process-limit=3", "--js-flags=--max-old-space-size=256", "--password-store=basic", "--use-mock-keychain", "about:blank",
}

// files are the open files between this process and Chromium.
type files struct {
	theirs            []*os.File
	commands, answers *os.File
	listeners         *net.UnixConn
}

func newFiles(launcher string) (*files, error) {
	program, err := os.Open(launcher)
	if err != nil {
		return nil, fmt.Errorf("prepare the browser: %w", err)
	}
	in, commands, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("prepare the browser: %w", err)
	}
	answers, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("prepare the browser: %w", err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("prepare the browser: %w", err)
	}
	theirs, ours := os.NewFile(uintptr(pair[0]), "listeners"), os.NewFile(uintptr(pair[1]), "listeners")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("prepare the browser: %w", err)
	}
	return &files{theirs: []*os.File{in, out, theirs, program}, commands: commands, answers: answers, listeners: conn.(*net.UnixConn)}, nil
}

func (f *files) closeTheirs() {
	for _, file := range f.theirs {
		_ = file.Close() // the child has copies
	}
	f.theirs = nil
}

func (f *files) closeOurs() {
	_ = errors.Join(f.commands.Close(), f.answers.Close(), f.listeners.Close()) // the child has ended
}

// limited keeps the first bytes that are written to it.
type limited struct {
	mu   sync.Mutex
	left int
	kept []byte
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(p), l.left)
	l.kept, l.left = append(l.kept, p[:n]...), l.left-n
	return len(p), nil
}

func (l *limited) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
