# Stuck at a download: from the model to the figures nothing needs a network, and where this machine
# lets a process be cut off from it, it is; nor is the program linked with what could fetch.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

offline() {
    if unshare -rn true 2>/dev/null; then
        timeout 60 unshare -rn "$NEEDLEGRID" "$@"
    else
        timeout 60 "$NEEDLEGRID" "$@"
    fi
}

export https_proxy=http://127.0.0.1:1 http_proxy=http://127.0.0.1:1
offline run --isa generic --model "$ssmax" --data . --context-lengths 256 --depths 0,100 \
    --samples 1 --db a.db 2>/dev/null
offline heatmap --db a.db >heatmap.txt && echo "heatmap"
offline summary --db a.db >summary.txt && echo "summary"
offline list --data . >list.txt && echo "list"
offline info "$ssmax" >info.txt && echo "info"
ldd "$NEEDLEGRID" | grep -iE 'curl|libssl|gnutls|libhttp' || echo "nothing linked that fetches"
