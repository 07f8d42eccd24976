class Pdpp < Formula
  desc "Collects your own data, keeps it on your machine, and reports what is missing"
  homepage "@URL@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/pdpp_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@darwin_arm64.tar.gz@"
    end
    on_intel do
      url "@URL@/pdpp_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@darwin_amd64.tar.gz@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/pdpp_@VERSION@_linux_arm64.tar.gz"
      sha256 "@linux_arm64.tar.gz@"
    end
    on_intel do
      url "@URL@/pdpp_@VERSION@_linux_amd64.tar.gz"
      sha256 "@linux_amd64.tar.gz@"
    end
  end

  def install
    bin.install "pdpp", "pdpp-connectors", "pdpp-local-collector"
    man1.install Dir["man/*"]
    bash_completion.install "completion.bash" => "pdpp"
  end

  service do
    run [opt_bin/"pdpp", "serve", "--log-file", var/"log/pdpp.log"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pdpp version")
  end
end
