// Temporal runs a Temporal server with its histories and its visibility in PostgreSQL,
// as the clusters of the end-to-end tests and of the benchmarks use it. It creates its
// two databases at the first start. It serves loopback addresses and is for tests only.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

// host is the address on which all parts of the server listen.
const host = "127.0.0.1"

// clusterName is the name of the server in its database.
const clusterName = "active"

func main() {
	postgres := flag.String("postgres", "127.0.0.1:5432", "host and port of the PostgreSQL server")
	user := flag.String("user", "cairn", "a user who may create databases, without a password")
	port := flag.Int("port", 7233, "port of the API")
	flag.Parse()
	if err := run(*postgres, *user, *port); err != nil {
		fmt.Fprintln(os.Stderr, "temporal:", err)
		os.Exit(1)
	}
}

// run serves until the process is interrupted.
func run(postgres, user string, port int) error {
	histories := database{address: postgres, user: user, name: "temporal"}
	visibility := database{address: postgres, user: user, name: "temporal_visibility"}
	for _, d := range []database{histories, visibility} {
		if err := d.create(); err != nil {
			return fmt.Errorf("create the database %s: %w", d.name, err)
		}
	}
	ports, err := pickPorts(port)
	if err != nil {
		return err
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(serverConfig(histories, visibility, ports)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(staticHosts(ports)),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "warn"}))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(settings()),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
	if err != nil {
		return err
	}
	return server.Start() // returns after the interrupt
}

// settings returns those that docs/runbook.md asks of the server of a cluster.
func settings() dynamicconfig.StaticClient {
	client := dynamicconfig.StaticClient{}
	for name, value := range map[string]any{
		"history.MaxBufferedQueryCount":       100,
		"history.transferProcessorMaxPollRPS": 2000,
		"history.timerProcessorMaxPollRPS":    2000,
		"matching.enableFairness":             true,
	} {
		client[dynamicconfig.MakeKey(name)] = value
	}
	return client
}

// pickPorts returns a port for each part of the server: the given one for the API, and
// ports that are free now for the others.
func pickPorts(api int) (map[primitives.ServiceName]int, error) {
	ports := map[primitives.ServiceName]int{primitives.FrontendService: api}
	for _, name := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are picked, so that no two parts get the same
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func serverConfig(histories, visibility database, ports map[primitives.ServiceName]int) *config.Config {
	services := map[string]config.Service{}
	for name, port := range ports {
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host}}
	}
	frontend := net.JoinHostPort(host, strconv.Itoa(ports[primitives.FrontendService]))
	return &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host}},
		Persistence: config.Persistence{
			DefaultStore: "histories", VisibilityStore: "visibility", NumHistoryShards: 4,
			DataStores: map[string]config.DataStore{
				"histories":  {SQL: histories.config(40)},
				"visibility": {SQL: visibility.config(10)},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            services,
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: frontend},
	}
}

// staticHosts returns the address of each part of the server, which replaces the
// discovery of hosts by gossip.
func staticHosts(ports map[primitives.ServiceName]int) map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, port := range ports {
		hosts[name] = static.SingleLocalHost(net.JoinHostPort(host, strconv.Itoa(port)))
	}
	return hosts
}
