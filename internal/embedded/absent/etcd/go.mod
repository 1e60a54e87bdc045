module go.etcd.io/etcd/server/v3

go 1.26.0

require go.etcd.io/etcd/client/v3 v3.6.4
