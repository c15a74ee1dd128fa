//! Classification of IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of network of an address; greater values are more sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// A public address.
    Public,
    /// This machine, a private network, or an unassigned range.
    Private,
    /// A cloud metadata service, which hands out credentials.
    Metadata,
}

/// The most sensitive classification of an address and of the IPv4 addresses that it embeds.
pub(super) fn reach(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(ip) => reach_v4(ip),
        IpAddr::V6(ip) => reach_v6(ip),
    }
}

/// Converts an IPv6 form of an IPv4 address to the IPv4 address.
pub(super) fn plain(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

/// Azure's host agent, and the metadata services of Alibaba and Oracle; link-local addresses are a range.
pub(super) const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192)];

/// <https://www.iana.org/assignments/iana-ipv4-special-registry/>
fn reach_v4(ip: Ipv4Addr) -> Reach {
    let [a, b, c, _] = ip.octets();
    if ip.is_link_local() || METADATA_V4.contains(&ip) {
        return Reach::Metadata;
    }
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let measuring = a == 198 && (18..20).contains(&b);
    let nobody = a == 0 || a >= 224;
    if ip.is_loopback() || ip.is_private() || shared || protocols || measuring || nobody {
        Reach::Private
    } else {
        Reach::Public
    }
}

/// <https://www.iana.org/assignments/iana-ipv6-special-registry/>
fn reach_v6(ip: Ipv6Addr) -> Reach {
    let segments = ip.segments();
    let own = match segments {
        // Link-local addresses, and those of Amazon, Google and Scaleway.
        [0xfe80..=0xfebf, ..] | [0xfd00, 0x0ec2, ..] => Reach::Metadata,
        [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254] | [0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042] => Reach::Metadata,
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Reach::Private,
        // Unique local, site-local, multicast, local NAT64.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff | 0xff00.., ..] | [0x0064, 0xff9b, 1, ..] => Reach::Private,
        _ => Reach::Public,
    };
    carried(ip).into_iter().map(reach_v4).fold(own, Reach::max)
}

/// The IPv4 addresses that an IPv6 address may lead to.
fn carried(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    let segments = ip.segments();
    let two = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    let last = two(segments[6], segments[7]);
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Vec::new(),
        // Mapped, translated, compatible, NAT64 (public and local).
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0, 0, 0, 0, 0, 0, ..] => vec![last],
        [0x0064, 0xff9b, ..] => vec![last],
        // 6to4, and Teredo with its server and its (inverted) client.
        [0x2002, high, low, ..] => vec![two(high, low)],
        [0x2001, 0, high, low, ..] => vec![two(high, low), two(!segments[6], !segments[7])],
        // ISATAP.
        [_, _, _, _, 0 | 0x0200, 0x5efe, ..] => vec![last],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_put_where_they_belong() {
        let table = [
            (Reach::Metadata, "169.254.169.254 169.254.170.2 169.254.0.1 100.100.100.200 168.63.129.16 192.0.0.192"),
            (Reach::Metadata, "fe80::1 fe80::a9fe:a9fe febf::1 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42"),
            (Reach::Metadata, "::ffff:169.254.169.254 ::169.254.169.254 64:ff9b::169.254.169.254 ::ffff:0:a9fe:a9fe"),
            (
                Reach::Metadata,
                "2002:a9fe:a9fe::1 64:ff9b:1::a9fe:a9fe 2001:0:1:2:3:4:5601:5601 2001:db8::5efe:a9fe:a9fe",
            ),
            (Reach::Private, "127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 0.0.0.0"),
            (Reach::Private, "0.1.2.3 198.18.0.1 192.0.0.1 224.0.0.1 255.255.255.255 240.0.0.1"),
            (Reach::Private, "::1 :: fc00::1 fd12::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::7f00:1 64:ff9b::10.0.0.1"),
            (Reach::Private, "2002:7f00:1::1 64:ff9b:1::808:808 2001:0:0a00:1:3:4:f7f7:f7f7"),
            (Reach::Public, "8.8.8.8 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 192.0.2.1 198.20.0.1 169.253.1.1"),
            (Reach::Public, "2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 fb00::1"),
        ];
        for (expected, addresses) in table {
            for address in addresses.split(' ') {
                assert_eq!(reach(address.parse().unwrap()), expected, "{address}");
            }
        }
    }

    #[test]
    fn a_mapped_address_is_the_one_it_maps() {
        assert_eq!(plain("::ffff:127.0.0.1".parse().unwrap()), IpAddr::from([127, 0, 0, 1]));
        assert_eq!(plain("::1".parse().unwrap()), IpAddr::V6(Ipv6Addr::LOCALHOST));
    }
}
