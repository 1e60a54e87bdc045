package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/connect"
)

// startDialer prepares the connections to addresses that users give. It knows the
// listeners of the parts that run.
func (p *platform) startDialer(ctx context.Context) error {
	own := append(slices.Clone(p.ends.Listeners), addresses(p.offline, p.encoder.address)...)
	own = append(own, p.resolve(ctx, p.cfg.Services())...)
	p.dialer = safedial.New(safedial.Config{Allow: p.cfg.Egress.Allow, Deny: p.cfg.Egress.Deny, Refuse: own})
	p.connector = connect.New(p.dialer.Client(0)).WithDial(p.dialer.DialContext)
	scheme, _, _ := strings.Cut(p.cfg.Blob.URL, "://")
	if kind, ok := bucketTypes[scheme]; ok {
		p.connector = p.connector.WithBuckets(kind, p.besideBlobs(ctx, own))
	}
	return nil
}

// bucketTypes are the types of imports whose buckets the service of the blobs may have too.
var bucketTypes = map[string]source.Type{"s3": source.TypeS3, "gs": source.TypeGCS, "azblob": source.TypeAzure}

// besideBlobs returns the client for imports from buckets of the kind in which the blobs are.
// It may reach their service too, if egress.allow has its address, but not the blobs.
func (p *platform) besideBlobs(ctx context.Context, own []netip.AddrPort) *http.Client {
	var service []netip.AddrPort
	if s, ok := p.cfg.Blob.Service(); ok {
		service = p.resolve(ctx, []config.Service{s})
	}
	own = slices.DeleteFunc(slices.Clone(own), func(a netip.AddrPort) bool { return slices.Contains(service, a) })
	dialer := safedial.New(safedial.Config{Allow: p.cfg.Egress.Allow, Deny: p.cfg.Egress.Deny, Refuse: own, Named: service})
	client := dialer.Client(0)
	client.Transport = blobs.Guard(p.cfg.Blob.URL, client.Transport)
	return client
}

// serviceLookup bounds the lookup of a service's name.
const serviceLookup = 5 * time.Second

// resolve returns the addresses of services that this process uses, as they
// resolve now. Those that change are for egress.deny.
func (p *platform) resolve(ctx context.Context, services []config.Service) []netip.AddrPort {
	var list []netip.AddrPort
	for _, service := range services {
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
