package safedial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Limits of one connection.
const (
	connectTimeout = 10 * time.Second
	headerTimeout  = 30 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 256 << 10
)

// Resolver resolves names to addresses. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config lists the addresses that may be reached.
type Config struct {
	// Allow lists ranges that may be reached although they are not public.
	// Defaults to none.
	Allow []netip.Prefix
	// Deny lists ranges that are never reached, whatever Allow contains. Defaults to
	// none.
	Deny []netip.Prefix
	// Refuse lists the listeners of this process and the services that it uses, which
	// are never reached, whatever Allow contains. A listener with an unspecified address stands
	// for its port on every address of this machine. Defaults to none.
	Refuse []netip.AddrPort
	// Named lists services that are reached only if Allow contains their addresses, also
	// if these are public. Defaults to none.
	Named []netip.AddrPort
	// Resolver resolves names. Defaults to net.DefaultResolver.
	Resolver Resolver
}

// Dialer connects to addresses that users supply. It is safe for concurrent
// use.
type Dialer struct {
	allow     []netip.Prefix
	deny      []netip.Prefix
	refuse    []netip.AddrPort
	named     []netip.AddrPort
	resolver  Resolver
	dialer    net.Dialer
	transport *http.Transport
}

// New returns a Dialer.
func New(c Config) *Dialer {
	d := &Dialer{resolver: c.Resolver, dialer: net.Dialer{Timeout: connectTimeout}}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	for _, p := range c.Allow {
		d.allow = append(d.allow, unmapPrefix(p))
	}
	for _, p := range c.Deny {
		d.deny = append(d.deny, unmapPrefix(p))
	}
	for _, a := range c.Refuse {
		d.refuse = append(d.refuse, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	for _, a := range c.Named {
		d.named = append(d.named, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	d.transport = &http.Transport{
		Proxy:                  nil, // a proxy would resolve the name again
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    32,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return d
}

// unmapPrefix returns a range of IPv4-mapped addresses as an IPv4 range, and
// any other range unchanged.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96).Masked()
	}
	return p
}

// refused returns the error for an address that must not be reached. It does
// not contain the address that a name resolves to, which may be a secret of the
// network.
func refused() error {
	return knowledge.Errorf(knowledge.CodeInvalid, "refused address: only public addresses may be reached, by http or https; an operator can allow others in egress.allow")
}

// DialContext connects to a host and port, like net.Dialer. If none of the
// host's addresses may be reached, the error is a *knowledge.Error with
// CodeInvalid.
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
		if d.isOwnListener(target) || slices.Contains(d.named, target) && !contains(d.allow, target.Addr()) {
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
	if isNumeric(host) {
		return nil, refused()
	}
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	return addrs, nil
}

// isNumeric reports whether a host is a decimal, octal, hexadecimal or shortened
// IP address, which some resolvers accept. The last label of a name is never a
// number.
func isNumeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndex(host, ".")+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || last == "" || strings.Trim(last, "0123456789") == ""
}

// mayReach reports whether an address, which is not IPv4-mapped, may be
// reached. Unspecified addresses never may, because they mean this machine.
func (d *Dialer) mayReach(ip netip.Addr) bool {
	if ip.IsUnspecified() || ip.Zone() != "" || contains(d.deny, ip) {
		return false
	}
	return public(ip) || contains(d.allow, ip)
}

// isOwnListener reports whether a listener of this process, or a service that it uses,
// has the address.
func (d *Dialer) isOwnListener(target netip.AddrPort) bool {
	for _, listener := range d.refuse {
		if listener.Port() != target.Port() {
			continue
		}
		if listener.Addr() == target.Addr() || (listener.Addr().IsUnspecified() && isThisMachine(target.Addr())) {
			return true
		}
	}
	return false
}

// isThisMachine reports whether an address belongs to this machine.
func isThisMachine(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // it may be one of this machine's
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}
