// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A certificate for 127.0.0.1 until 2126, and its key.
public enum LoopbackCertificate {
    /// The certificate in PEM.
    public static let chain = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATagAwIBAgIUR2DNkGRSHRqCj7g4RqymTljU03QwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyNjE1NTgyNFoYDzIxMjYxMTAy
        MTU1ODI0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQb+CeDa2qZrIGQuqcULK3dEXP42QGSAh70olm3tqMmgl2a0w7QAQ2C
        Ay8jCG3/IEzXuME++H+2YV7q0zKYe4Abo2QwYjAdBgNVHQ4EFgQUhy29+axEHa6L
        1f99q1x7JSOID24wHwYDVR0jBBgwFoAUhy29+axEHa6L1f99q1x7JSOID24wDwYD
        VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
        IQCe1LlPEZJ3sQZ0gr34sN8y5/3d9OgAaFKKhBU2K6GGpgIgYi8zuUTqdhGjhNSp
        CTqrFHR78w1cO9EzGYbEQKI4/94=
        -----END CERTIFICATE-----

        """
    /// Its key in PEM.
    public static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKiHXHem9/I+qs+W2
        PqWkuu5PgNLQUNw+pLPY+CILB2ihRANCAAQb+CeDa2qZrIGQuqcULK3dEXP42QGS
        Ah70olm3tqMmgl2a0w7QAQ2CAy8jCG3/IEzXuME++H+2YV7q0zKYe4Ab
        -----END PRIVATE KEY-----

        """
}
