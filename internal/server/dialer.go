package server

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/source/connect"
)

// startDialer prepares the connections to addresses that users give. It knows the
// listeners of the parts that run.
func (p *platform) startDialer(ctx context.Context) error {
	own := append(slices.Clone(p.ends.Listeners), addresses(p.offline)...)
	own = append(own, p.services(ctx)...)
	p.dialer = safedial.New(safedial.Config{Allow: p.cfg.Egress.Allow, Deny: p.cfg.Egress.Deny, Refuse: own})
	p.connector = connect.New(p.dialer.Client(0))
	return nil
}

// serviceLookup bounds the lookup of a service's name.
const serviceLookup = 5 * time.Second

// services returns the addresses of the services that this process uses, as they
// resolve now. Those that change are for egress.deny.
func (p *platform) services(ctx context.Context) []netip.AddrPort {
	var list []netip.AddrPort
	for _, service := range p.cfg.Services() {
		ctx, cancel := context.WithTimeout(ctx, serviceLookup)
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", service.Host)
		cancel()
		if err != nil {
			p.log.WarnContext(ctx, "cannot resolve a configured service; users could name its address if egress.allow has it", "host", service.Host, "error", err)
		}
		for _, ip := range ips {
			list = append(list, netip.AddrPortFrom(ip, service.Port))
		}
	}
	return list
}

// addresses returns the listeners of this process, which no document's address may
// reach.
func addresses(hosts ...string) []netip.AddrPort {
	var list []netip.AddrPort
	for _, h := range hosts {
		if a, err := netip.ParseAddrPort(h); err == nil {
			list = append(list, a)
		}
	}
	return list
}
