package safedial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The limits of one connection.
const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 30 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 256 << 10
)

// Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config says what may be reached.
type Config struct {
	// Allow are ranges that may be reached although they are not public.
	// Defaults to none.
	Allow []netip.Prefix
	// Refuse are the listeners of this process, which are never reached,
	// whatever Allow says. One of an unspecified address stands for its port on
	// every address of this machine. Defaults to none.
	Refuse []netip.AddrPort
	// Resolver finds the addresses of names. Defaults to the system's.
	Resolver Resolver
}

// Dialer connects to addresses that users gave. It may be used at the same
// time by many.
type Dialer struct {
	allow     []netip.Prefix
	refuse    []netip.AddrPort
	resolver  Resolver
	dialer    net.Dialer
	transport *http.Transport
}

// New gives a Dialer.
func New(c Config) *Dialer {
	d := &Dialer{resolver: c.Resolver, dialer: net.Dialer{Timeout: connectTimeout}}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	for _, p := range c.Allow {
		d.allow = append(d.allow, unmapPrefix(p))
	}
	for _, a := range c.Refuse {
		d.refuse = append(d.refuse, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	d.transport = &http.Transport{
		Proxy:                  nil, // a proxy would resolve the name again
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return d
}

// unmapPrefix writes a range of mapped addresses as the IPv4 range it is.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96).Masked()
	}
	return p
}

// refused is the error for what must not be reached. It does not say which
// address a name has, since that may be a secret of the network.
func refused() error {
	return knowledge.Errorf(knowledge.CodeInvalid, "refused address: only public addresses may be reached, by http or https; an operator can allow others in egress.allow")
}

// DialContext connects to a host and port, as net.Dialer does, if one of the
// host's addresses may be reached; otherwise the error is a *knowledge.Error
// with CodeInvalid.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || (network != "tcp" && network != "tcp4" && network != "tcp6") {
		return nil, refused()
	}
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, ip := range addrs {
		target := netip.AddrPortFrom(ip.Unmap(), uint16(port))
		if d.own(target) {
			return nil, refused()
		}
		if !d.mayReach(target.Addr()) {
			continue // a name can have addresses of both kinds, as behind NAT64
		}
		conn, err := d.dialer.DialContext(ctx, network, target.String())
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 0 {
		return nil, refused()
	}
	return nil, fmt.Errorf("connect to %s: %w", host, errors.Join(errs...))
}

func (d *Dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	if numeric(host) {
		return nil, refused()
	}
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	return addrs, nil
}

// numeric reports whether a host is an address in a form that some resolvers
// read and others do not: decimal, octal, hexadecimal or shortened. A name's
// last label is never a number.
func numeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndex(host, ".")+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || last == "" || strings.Trim(last, "0123456789") == ""
}

// mayReach reports whether an address, which is not mapped, may be reached. An
// unspecified one means this machine, whatever range it is in.
func (d *Dialer) mayReach(ip netip.Addr) bool {
	if ip.IsUnspecified() || ip.Zone() != "" {
		return false
	}
	return public(ip) || contains(d.allow, ip)
}

// own reports whether a listener of this process is at an address.
func (d *Dialer) own(target netip.AddrPort) bool {
	for _, listener := range d.refuse {
		if listener.Port() != target.Port() {
			continue
		}
		if listener.Addr() == target.Addr() || (listener.Addr().IsUnspecified() && thisMachine(target.Addr())) {
			return true
		}
	}
	return false
}

// thisMachine reports whether an address is one of this machine's.
func thisMachine(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // cannot be ruled out
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}
