package safedial

import (
	"net/netip"
)

// globalIPv6 contains all global IPv6 addresses. Ranges outside it have special
// purposes.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// notPublic are the ranges within the global ones that the IANA registries
// assign to special purposes, and addresses that only answer inside clouds.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this host, and unspecified
	netip.MustParsePrefix("10.0.0.0/8"),       // private
	netip.MustParsePrefix("100.64.0.0/10"),    // between a provider and its customers
	netip.MustParsePrefix("127.0.0.0/8"),      // loopback
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's own services
	netip.MustParsePrefix("169.254.0.0/16"),   // link-local, metadata of most clouds
	netip.MustParsePrefix("172.16.0.0/12"),    // private
	netip.MustParsePrefix("192.0.0.0/24"),     // protocols
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.88.99.0/24"),   // relays of 6to4
	netip.MustParsePrefix("192.168.0.0/16"),   // private
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("224.0.0.0/4"),      // multicast
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),        // protocols, and tunnels of Teredo
	netip.MustParsePrefix("2001:db8::/32"),    // documentation
	netip.MustParsePrefix("2002::/16"),        // 6to4, with an IPv4 address inside
	netip.MustParsePrefix("3fff::/20"),        // documentation
}

// public reports whether an address can be reached from the internet. Addresses
// that embed an IPv4 address (NAT64, 6to4, compatible) are not public, except
// IPv4-mapped ones, which are treated as that IPv4 address.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || ip.Zone() != "" || (ip.Is6() && !globalIPv6.Contains(ip)) {
		return false
	}
	return !contains(notPublic, ip)
}

func contains(ranges []netip.Prefix, ip netip.Addr) bool {
	for _, p := range ranges {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
